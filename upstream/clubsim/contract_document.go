package clubsim

import (
	"bytes"
	"fmt"
)

// lacksContracts reports whether there are no contract documents, which the description does not have either.
func (s Settings) lacksContracts() bool { return !s.ContractDocuments }

// contractModel names what the contract of an article is made from; nil: it has none.
func (w *World) contractModel() *string {
	if !w.settings.ContractDocuments {
		return nil
	}
	return new(w.iri("contract_models", 1))
}

// pdf is a body that is sent as it is.
type pdf []byte

// contractAt finds a recorded sale: an open one has no contract.
func (c *request) contractAt(id int) (*sale, error) {
	sale, err := c.saleAt(id)
	if err == nil && sale.State == saleBuilding {
		err = itemNotFound()
	}
	return sale, err
}

// getContract: GET sales/{id}/contract.
func getContract(_ *request, sale *sale) (response, error) {
	return ok(contractOf(sale))
}

// contractOf is the contract of a sale: always the same bytes, a page with one line.
func contractOf(sale *sale) pdf {
	line := fmt.Sprintf("BT /F 14 Tf 72 720 Td (Contract of sale %d, %s) Tj ET", sale.ID, sale.ClubCode)
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R" +
			"/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>",
		fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(line), line),
	}
	var file, places bytes.Buffer
	file.WriteString("%PDF-1.4\n")
	for i, object := range objects {
		fmt.Fprintf(&places, "%010d 00000 n \n", file.Len())
		fmt.Fprintf(&file, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	at := file.Len()
	fmt.Fprintf(&file, "xref\n0 5\n0000000000 65535 f \n%strailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", &places, at)
	return file.Bytes()
}

// sendContract: POST sales/{id}/send-contract. The simulator sends no mail.
func sendContract(*request, *sale) (response, error) { return noContent() }

// listSaleDocuments: GET sales/{id}/sale_documents. Their members are assumptions.
func listSaleDocuments(c *request, of *sale) (response, error) {
	recorded := filter([]*sale{of}, func(s *sale) bool { return s.State != saleBuilding })
	return paginate(c, "SaleDocument", recorded, func(s *sale) record {
		return c.w.record("SaleDocument", "sale_documents", s.ID, record{"name": "Contract", "url": c.w.iri("sales", s.ID) + "/contract"})
	})
}
