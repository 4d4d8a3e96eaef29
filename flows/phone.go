package flows

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// callingCodes lists the calling code of each country (ITU-T E.164). Countries may share one, and one
// inside another's, such as Jamaica's in that of North America, is a code of its own.
const callingCodes = `AD376 AE971 AF93 AG1268 AI1264 AL355 AM374 AO244 AR54 AS1684 AT43 AU61 AW297 AX358 AZ994 BA387 BB1246 BD880
BE32 BF226 BG359 BH973 BI257 BJ229 BL590 BM1441 BN673 BO591 BQ599 BR55 BS1242 BT975 BW267 BY375 BZ501 CA1 CC61 CD243 CF236 CG242
CH41 CI225 CK682 CL56 CM237 CN86 CO57 CR506 CU53 CV238 CW599 CX61 CY357 CZ420 DE49 DJ253 DK45 DM1767 DO1809 DO1829 DO1849 DZ213
EC593 EE372 EG20 EH212 ER291 ES34 ET251 FI358 FJ679 FK500 FM691 FO298 FR33 GA241 GB44 GD1473 GE995 GF594 GG44 GH233 GI350 GL299
GM220 GN224 GP590 GQ240 GR30 GT502 GU1671 GW245 GY592 HK852 HN504 HR385 HT509 HU36 ID62 IE353 IL972 IM44 IN91 IO246 IQ964 IR98
IS354 IT39 JE44 JM1876 JM1658 JO962 JP81 KE254 KG996 KH855 KI686 KM269 KN1869 KP850 KR82 KW965 KY1345 KZ76 KZ77 LA856 LB961 LC1758
LI423 LK94 LR231 LS266 LT370 LU352 LV371 LY218 MA212 MC377 MD373 ME382 MF590 MG261 MH692 MK389 ML223 MM95 MN976 MO853 MP1670 MQ596
MR222 MS1664 MT356 MU230 MV960 MW265 MX52 MY60 MZ258 NA264 NC687 NE227 NF672 NG234 NI505 NL31 NO47 NP977 NR674 NU683 NZ64 OM968
PA507 PE51 PF689 PG675 PH63 PK92 PL48 PM508 PR1787 PR1939 PS970 PT351 PW680 PY595 QA974 RE262 RO40 RS381 RU7 RW250 SA966 SB677
SC248 SD249 SE46 SG65 SH290 SI386 SJ47 SK421 SL232 SM378 SN221 SO252 SR597 SS211 ST239 SV503 SX1721 SY963 SZ268 TC1649 TD235 TG228
TH66 TJ992 TK690 TL670 TM993 TN216 TO676 TR90 TT1868 TV688 TW886 TZ255 UA380 UG256 US1 UY598 UZ998 VA39 VC1784 VE58 VG1284 VI1340
VN84 VU678 WF681 WS685 XK383 YE967 YT262 ZA27 ZM260 ZW263`

const (
	longestCallingCode = 4 // digits of a calling code
	// minPhoneDigits and maxPhoneDigits bound a complete number with its calling code (ITU-T E.164).
	minPhoneDigits, maxPhoneDigits = 8, 15
	// countedPhoneDigits is how many last digits of a number count for limits: odd spellings of its beginning have one limit.
	countedPhoneDigits = 9
)

// keepsZero lists calling codes whose national numbers can begin with a zero, which elsewhere is only dialled.
var keepsZero = []string{"39", "225", "241", "242", "378", "379"}

// IsPhoneCountry reports whether a text is a country with a calling code, such as FR.
func IsPhoneCountry(text string) bool {
	return slices.ContainsFunc(strings.Fields(callingCodes), func(code string) bool { return code[:2] == text })
}

// PhoneCountries returns the countries that a number may belong to. A number without a calling code is of the home country.
func PhoneCountries(number, home string) (countries []string) {
	digits, international := splitPhone(number)
	if !international {
		return []string{home}
	}
	_, countries = callingCode(digits)
	return countries
}

// CompletePhone returns a number in the form +33612345678, which is the same for every spelling of the number. Only a complete
// number identifies a person. A number without a calling code is of the home country (ISO 3166, two letters; empty if unknown).
// It returns an empty text for a number that is not complete.
func CompletePhone(number, home string) string {
	digits, international := splitPhone(number)
	if !international {
		code := codeOfCountry(home)
		if code == "" {
			return ""
		}
		digits = code + withoutTrunk(digits, code)
	}
	code, countries := callingCode(digits)
	if len(countries) == 0 {
		return ""
	}
	code = sharedCode(code)
	if rest := digits[len(code):]; international && !slices.Contains(keepsZero, code) {
		digits = code + strings.TrimPrefix(rest, "0") // +33 (0)6…
	}
	if len(digits) < minPhoneDigits || len(digits) > maxPhoneDigits {
		return ""
	}
	return "+" + digits
}

// AbbreviatePhone returns the part of a number that counts for limits: its calling code and its last digits. Some numbers share
// it, so it must not identify a person. It returns an empty text for one without digits.
func AbbreviatePhone(number, home string) string {
	code, digits := "", digitsOf(number)
	if full := CompletePhone(number, home); full != "" {
		digits = full[1:]
		code, _ = callingCode(digits)
		code = sharedCode(code)
		digits = digits[len(code):]
	}
	if digits == "" {
		return ""
	}
	return strings.TrimSpace(code + " " + digits[max(0, len(digits)-countedPhoneDigits):])
}

// splitPhone returns a number's digits, without the prefix of international calls, and whether it had one.
func splitPhone(number string) (digits string, international bool) {
	number = strings.ReplaceAll(norm.NFKC.String(number), "(0)", "")
	digits = digitsOf(number)
	first := strings.IndexFunc(number, func(r rune) bool { return r == '+' || r >= '0' && r <= '9' })
	if first >= 0 && number[first] == '+' {
		return digits, true
	}
	if rest, found := strings.CutPrefix(digits, "00"); found {
		return rest, true
	}
	return digits, false
}

// digitsOf returns the digits of a text, full-width ones as ASCII.
func digitsOf(number string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, norm.NFKC.String(number))
}

// callingCode returns the longest calling code with which digits begin, and its countries.
func callingCode(digits string) (code string, countries []string) {
	for length := min(longestCallingCode, len(digits)); length > 0 && countries == nil; length-- {
		code = digits[:length]
		for each := range strings.FieldsSeq(callingCodes) {
			if each[2:] == code {
				countries = append(countries, each[:2])
			}
		}
	}
	return code, countries
}

// codeOfCountry returns the code of the numbering plan of a country, empty for an unknown one.
func codeOfCountry(country string) string {
	for each := range strings.FieldsSeq(callingCodes) {
		if each[:2] == country {
			return sharedCode(each[2:])
		}
	}
	return ""
}

// sharedCode returns the code of the numbering plan that a country shares with others: what follows is dialled inside it too.
func sharedCode(code string) string {
	if code[0] == '1' || code[0] == '7' {
		return code[:1]
	}
	return code
}

// withoutTrunk removes what is dialled before a national number within its country.
func withoutTrunk(digits, code string) string {
	switch {
	case slices.Contains(keepsZero, code):
		return digits
	case code == "1" && len(digits) == 11:
		return strings.TrimPrefix(digits, "1")
	case code == "7" && len(digits) == 11:
		return strings.TrimPrefix(digits, "8")
	case code == "36":
		return strings.TrimPrefix(digits, "06")
	default:
		return strings.TrimPrefix(digits, "0")
	}
}
