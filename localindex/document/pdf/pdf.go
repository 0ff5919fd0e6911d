// Package pdf reads PDF files with PDFium, compiled to WebAssembly and run by wazero: no library of the system is
// needed, and a file that makes PDFium fail harms nothing but its own reading.
//
// It is for programs that build content. A kiosk must not link it.
package pdf

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"sync"
	"time"

	pdfium "github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"docent/localindex/document"
)

// Limits.
const (
	MaxBytes      = 64 << 20         // a file
	MaxPages      = 400              // of a file
	MaxPageGlyphs = 60_000           // characters of one page; a dense page has 6,000
	MaxGlyphs     = 3_000_000        // characters of a file
	MaxMemory     = 512 << 20        // of PDFium for one file
	MaxOCRPages   = 200              // pages of a file that are recognised
	PageTimeout   = 30 * time.Second // for PDFium to open a file, to read a page or to draw it
	maxTags       = 20_000           // elements of a page that are followed
	maxTagDepth   = 100
	ocrDPI        = 300
	maxOCRPixels  = 30_000_000 // of a page drawn for recognition; a page of A3 has 17 million
)

// wasmPage is the unit of memory in WebAssembly.
const wasmPage = 64 << 10

// Recogniser reads the text in the picture of a page. It must be safe for concurrent use.
type Recogniser interface {
	// Recognise returns the text, lines ended by "\n" and paragraphs by an empty line, and how sure it is of it, 0 to 1.
	Recognise(ctx context.Context, page image.Image) (text string, confidence float64, err error)
	// String names it, with what makes its results other ones.
	String() string
}

// Options say how files are read.
type Options struct {
	// CacheDir keeps PDFium compiled for this machine: 21 MB that make a later start 30 times faster and six times
	// smaller. Empty keeps nothing.
	CacheDir string
	// Workers is how many files are read at a time, 1 if zero. Each may take up to MaxMemory.
	Workers int
	// Recogniser reads pages that are pictures of text. Without one they are only named.
	Recogniser Recogniser
}

// Parser reads PDF files. Close it after use.
type Parser struct {
	options Options
	timeout time.Duration // PageTimeout but in tests
	places  chan struct{} // bounds the files read at a time

	mu      sync.Mutex
	cache   wazero.CompilationCache
	pool    pdfium.Pool
	closed  bool
	reading sync.WaitGroup
}

var (
	_ document.Parser    = (*Parser)(nil)
	_ document.Dependent = (*Parser)(nil)
)

// DependsOn is what recognises pages that are pictures of text.
func (p *Parser) DependsOn() string {
	if p.options.Recogniser == nil {
		return ""
	}
	return p.options.Recogniser.String()
}

// ErrClosed is returned by a parser that was closed.
var ErrClosed = errors.New("the PDF parser is closed")

// New makes a parser. PDFium is started by the first file.
func New(o Options) *Parser {
	if o.Workers < 1 {
		o.Workers = 1
	}
	return &Parser{options: o, timeout: PageTimeout, places: make(chan struct{}, o.Workers)}
}

// Close waits for files that are being read and frees PDFium.
func (p *Parser) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	p.mu.Unlock()
	p.reading.Wait()
	var errs []error
	if p.pool != nil {
		errs = append(errs, p.pool.Close())
	}
	if p.cache != nil {
		errs = append(errs, p.cache.Close(context.Background()))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close PDFium: %w", err)
	}
	return nil
}

// enter takes a place and gives PDFium, started if need be.
func (p *Parser) enter(ctx context.Context) (pdfium.Pool, error) {
	select {
	case p.places <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	err := ErrClosed
	if !p.closed {
		err = p.start()
	}
	if err != nil {
		<-p.places
		return nil, err
	}
	p.reading.Add(1)
	return p.pool, nil
}

func (p *Parser) leave() {
	p.reading.Done()
	<-p.places
}

// start compiles PDFium. The caller holds the lock.
func (p *Parser) start() error {
	if p.pool != nil {
		return nil
	}
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling). // PDFium's setjmp needs it
		WithMemoryLimitPages(MaxMemory / wasmPage).
		WithCloseOnContextDone(true) // or a file that keeps PDFium busy could not be given up
	if p.options.CacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(p.options.CacheDir)
		if err != nil {
			return fmt.Errorf("open the cache of PDFium at %s: %w", p.options.CacheDir, err)
		}
		p.cache = cache
		config = config.WithCompilationCache(cache)
	}
	pool, err := webassembly.Init(webassembly.Config{
		Context:       context.Background(), // it outlives the file that started it
		MaxTotal:      p.options.Workers,
		FSConfig:      wazero.NewFSConfig(), // no file of this machine is to be seen; the default shows all
		RuntimeConfig: config,
		Stdout:        io.Discard,
		Stderr:        io.Discard,
	})
	if err != nil {
		return fmt.Errorf("start PDFium: %w", err)
	}
	p.pool = pool
	return nil
}
