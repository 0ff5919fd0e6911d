// Package standard gathers the parsers that need nothing but Go. PDF is not among them: it needs a WebAssembly
// runtime, so that a program that reads PDF names that parser itself.
package standard

import (
	"docent/localindex/document"
	"docent/localindex/document/docx"
	"docent/localindex/document/html"
	"docent/localindex/document/markdown"
	"docent/localindex/document/plain"
)

// Parsers returns the parsers for Markdown, HTML, Word and plain text. The map is the caller's, who may add others.
func Parsers() document.Parsers {
	return document.Parsers{
		document.Markdown: markdown.Parser{},
		document.HTML:     html.Parser{},
		document.DOCX:     docx.Parser{},
		document.Plain:    plain.Parser{},
	}
}
