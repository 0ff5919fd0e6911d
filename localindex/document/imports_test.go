package document_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestImports: only programs that name the PDF parser link PDFium and a WebAssembly runtime; a kiosk must not.
func TestImports(t *testing.T) {
	packages := []string{"docent/localindex/document/standard", "docent/localindex/document/tesseract", "docent/localindex/chunk", "docent/kiosk"}
	out, err := exec.Command("go", append([]string{"list", "-deps"}, packages...)...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for dep := range strings.Lines(string(out)) {
		for _, bad := range []string{"klippa-app/go-pdfium", "tetratelabs/wazero", "docent/localindex/document/pdf"} {
			if strings.Contains(dep, bad) {
				t.Errorf("one of %v imports %s", packages, strings.TrimSpace(dep))
			}
		}
	}
}
