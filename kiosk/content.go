package kiosk

import (
	"context"
	"sync"

	"golang.org/x/text/language"

	"docent/agent/library"
	"docent/localindex"
	"docent/vision"
)

// Recogniser names the exhibit on a photo. It is safe for concurrent use.
type Recogniser interface {
	Recognise(ctx context.Context, photo vision.Photo) (vision.Recognition, error)
}

// content is one release and all that was made from it. A request takes the content once and uses it to its end, so
// that it never sees two releases.
type content struct {
	release    *localindex.Release
	recogniser Recogniser
	library    library.Library
	languages  []language.Tag // of the gallery, default first
}

func newContent(r *localindex.Release, rec Recogniser) *content {
	tags := make([]language.Tag, 0, len(r.Gallery().Languages))
	for _, l := range r.Gallery().Languages {
		tags = append(tags, language.Make(l))
	}
	return &content{release: r, recogniser: rec, library: library.Of(r), languages: tags}
}

// language returns the gallery's language that suits the wishes best; see nearest.
func (c *content) language(wishes ...string) string {
	g := c.release.Gallery()
	if len(g.Languages) == 0 {
		return ""
	}
	return g.Languages[nearest(c.languages, wishes...)]
}

// shelf holds the current content and knows who uses which.
type shelf struct {
	mu      sync.Mutex
	current *lent
	before  pictures // of the content before: pages that were opened with it ask for them until they hear of the switch
}

// pictures are where the pictures of a release are.
type pictures struct {
	release string
	paths   map[string]string // by file
}

// pictures lists the pictures of a release. Nothing else of it is held, which may be closed meanwhile.
func (c *content) pictures() pictures {
	p := pictures{release: c.release.Manifest().ID, paths: map[string]string{}}
	for _, e := range c.release.Gallery().Exhibits {
		for _, pic := range e.Pictures {
			if path, ok := c.release.PicturePath(pic.File); ok {
				p.paths[pic.File] = path
			}
		}
	}
	return p
}

// pictureBefore is where a picture of the content before is, if it is of that release.
func (s *shelf) pictureBefore(release, name string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if release != s.before.release {
		return "", false
	}
	path, ok := s.before.paths[picturesFolder+name]
	if !ok {
		path, ok = s.before.paths[name]
	}
	return path, ok
}

// lent is a content with the number of its users.
type lent struct {
	*content
	users int
	// unused is closed when the content was replaced and its last user has left.
	unused   chan struct{}
	replaced bool
}

// take returns the current content, or false where there is none yet. The caller gives it back once.
func (s *shelf) take() (c *content, giveBack func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.current
	if l == nil {
		return nil, nil, false
	}
	l.users++
	return l.content, sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		l.users--
		l.check()
	}), true
}

// replace makes c the current content and returns a channel that is closed when nobody uses the one before.
func (s *shelf) replace(c *content) (unused <-chan struct{}) {
	var old pictures
	if last, giveBack, ok := s.take(); ok {
		old = last.pictures() // before the lock is held, under which requests would wait
		defer giveBack()
	}
	return s.swap(c, old)
}

// swap puts c in place. It is all that requests wait for.
func (s *shelf) swap(c *content, old pictures) (unused <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.current
	s.before = old
	s.current = &lent{content: c, unused: make(chan struct{})}
	if before == nil {
		done := make(chan struct{})
		close(done)
		return done
	}
	before.replaced = true
	before.check()
	return before.unused
}

// check closes unused when it is time. It is called with the shelf's mu held, and at most once with no users left
// after the replacement, because nobody takes a content that was replaced.
func (l *lent) check() {
	if l.replaced && l.users == 0 {
		close(l.unused)
	}
}
