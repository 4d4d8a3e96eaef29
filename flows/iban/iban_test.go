package iban_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"frontdesk/flows/iban"
)

// TestIBANs validates the registry's example of each country, and common mistakes in them.
func TestIBANs(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"AD12 0001 2030 2003 5910 0100", "AE07 0331 2345 6789 0123 456", "AT61 1904 3002 3457 3201", "BE68 5390 0754 7034",
		"BG80 BNBG 9661 1020 3456 78", "BR97 0036 0305 0000 1000 9795 493P 1", "CH93 0076 2011 6238 5295 7", "CY17 0020 0128 0000 0012 0052 7600",
		"CZ65 0800 0000 1920 0014 5399", "DE89 3704 0044 0532 0130 00", "DK50 0040 0440 1162 43", "EE38 2200 2210 2014 5685",
		"ES91 2100 0418 4502 0005 1332", "FI21 1234 5600 0007 85", "FR14 2004 1010 0505 0001 3M02 606", "GB29 NWBK 6016 1331 9268 19",
		"GR16 0110 1250 0000 0001 2300 695", "HR12 1001 0051 8630 0016 0", "HU42 1177 3016 1111 1018 0000 0000", "IE29 AIBK 9311 5212 3456 78",
		"IT60 X054 2811 1010 0000 0123 456", "LI21 0881 0000 2324 013A A", "LT12 1000 0111 0100 1000", "LU28 0019 4006 4475 0000",
		"LV80 BANK 0000 4351 9500 1", "MC58 1122 2000 0101 2345 6789 030", "MT84 MALT 0110 0001 2345 MTLC AST0 01S", "NL91 ABNA 0417 1643 00",
		"NO93 8601 1117 947", "PL61 1090 1014 0000 0712 1981 2874", "PT50 0002 0123 1234 5678 9015 4", "RO49 AAAA 1B31 0075 9384 0000",
		"SA03 8000 0000 6080 1016 7519", "SE45 5000 0000 0583 9825 7466", "SI56 2633 0001 2039 086", "SK31 1200 0000 1987 4263 7541",
		"SM86 U032 2509 8000 0000 0270 100", "TR33 0006 1005 1978 6457 8413 26",
		"UA21 3223 1300 0002 6007 2335 6600 1", "VG96 VPVG 0000 0123 4567 8901",
		"XK05 1212 0123 4567 8906", "de89370400440532013000", " fr14 20041010050500013m02606 ", "FR14\u00a02004\u202f1010050500013M02606",
	} {
		iban, problem, _ := iban.Parse(good)
		if problem != "" {
			t.Errorf("%s: %s", good, problem)
			continue
		}
		shown := strings.ToUpper(strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "").Replace(good))
		if want := shown[:2] + "** **** " + shown[len(shown)-4:]; iban.Masked() != want {
			t.Errorf("%s is masked as %s, want %s", good, iban.Masked(), want)
		}
		text, _ := json.Marshal(map[string]any{"iban": iban})
		for _, leak := range []string{fmt.Sprint(iban), fmt.Sprintf("%v %+v %#v %s %q", iban, iban, iban, iban, iban), string(text)} {
			if strings.Contains(leak, shown[4:10]) {
				t.Errorf("%s shows the number", leak)
			}
		}
	}
	for _, bad := range []string{
		"", "FR", "FR14", "1234567890", "Ada", "FR14 2004 1010 0505 0001 3M02 607",
		"FR14 2004 1010 0505 0001 3M02 60", "FR14 2004 1010 0505 0001 3M02 6066",
		"FR41 2004 1010 0505 0001 3M02 606", "DE89 3704 0044 0532 0130 0A",
		"GB29 1WBK 6016 1331 9268 19", "US12 3456 7890 1234", "ZZ68 5390 0754 7034",
		"FR14-2004-1010-0505-0001-3M02-606", "DE98 3704 0044 0532 0130 00", "ÄÖ12 3456", "FR14 2004 1010 0505 0001 3Ḿ02 606",
	} {
		_, problem, params := iban.Parse(bad)
		if problem == "" || bad != "" && len(bad) > 8 && strings.Contains(fmt.Sprint(problem, params), bad[5:]) {
			t.Errorf("%q is taken, or repeated: %s", bad, problem)
		}
	}
}

// FuzzIBAN: no input causes a panic, and a number with one wrong digit is refused.
func FuzzIBAN(f *testing.F) {
	f.Add("FR14 2004 1010 0505 0001 3M02 606", uint8(9))
	f.Add("de89370400440532013000", uint8(4))
	f.Add("\x00é", uint8(0))
	f.Fuzz(func(t *testing.T, text string, at uint8) {
		if _, problem, _ := iban.Parse(text); problem != "" || int(at) >= len(text) {
			return
		}
		if b := text[at]; b >= '0' && b <= '9' {
			wrong := text[:at] + string('0'+(b-'0'+1)%10) + text[at+1:]
			if _, problem, _ := iban.Parse(wrong); problem == "" {
				t.Errorf("%s and %s are both taken", text, wrong)
			}
		}
	})
}
