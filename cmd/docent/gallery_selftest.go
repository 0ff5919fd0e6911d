package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"docent/localindex/gallery"
	"docent/localindex/release"
	"docent/vision"
	"docent/vision/selftest"
)

// selfTestReport is what the self-test found of a release; false where it was not tested.
func selfTestReport(m release.Manifest) (selftest.Report, bool, error) {
	data, ok := m.Parts[selftest.PartName]
	if !ok {
		return selftest.Report{}, false, nil
	}
	var r selftest.Report
	if err := json.Unmarshal(data, &r); err != nil {
		return r, false, fmt.Errorf("read what the self-test of release %s found: %w", m.ID, err)
	}
	return r, true, nil
}

// selfTestLines are the findings in a few words.
func selfTestLines(r selftest.Report) []string {
	lines := []string{fmt.Sprintf("Recognition was tried on %s of %d of %d pictures: %d %% named right at once, %d %% offered as a choice, %d %% not recognised, %d %% named wrongly.",
		count(r.Views, "made-up photo"), r.Tried, r.Pictures, share(r.Recognised, r.Views), share(r.Offered, r.Views), share(r.Missed, r.Views), share(r.Wrong, r.Views))}
	for _, w := range r.Weak[:min(len(r.Weak), maxPrinted)] {
		switch {
		case len(w.Missed) > 0:
			lines = append(lines, fmt.Sprintf("  %s is hard to recognise: not found on %d of %s of %s", w.Exhibit, len(w.Missed), count(w.Views, "photo"), w.Picture))
		default:
			lines = append(lines, fmt.Sprintf("  %s has few details to hold on to (%d in %s): photos of it may not be recognised", w.Exhibit, w.Features, w.Picture))
		}
	}
	lines = more(lines, r.WeakCount)
	for _, p := range r.Pairs[:min(len(r.Pairs), maxPrinted)] {
		what := "look alike"
		switch {
		case len(p.Wrong) > 0:
			what = "are taken for each other"
		case p.Unsure > 0:
			what = "look alike: visitors are asked which one it is"
		}
		lines = append(lines, fmt.Sprintf("  %s and %s %s", p.A, p.B, what))
	}
	return more(lines, r.PairsCount)
}

// neuralLine says how the gallery's neural network did.
func neuralLine(n vision.NeuralReport) string {
	line := fmt.Sprintf("The neural network takes %.0f ms a picture; it offers the right exhibit on %d of %s.", n.MS, n.Found, count(n.Views, "made-up photo"))
	if 4*n.Found < n.Views {
		line += " That is little: it hardly tells these exhibits apart, and may be left out."
	}
	return line
}

// maxPrinted is how many entries of a list are printed; the page has more.
const maxPrinted = 8

func more(lines []string, all int) []string {
	if all > maxPrinted {
		return append(lines, fmt.Sprintf("  … and %d more", all-maxPrinted))
	}
	return lines
}

func share(part, whole int) int { return (100*part + whole/2) / max(1, whole) }

// selfTestPage is where the findings about a release are, in a language.
func selfTestPage(releaseDir, language string) string {
	return filepath.Clean(releaseDir) + "-recognition." + language + ".html"
}

// pageLanguages are those of a gallery that its staff's pages are written in, or English.
func pageLanguages(languages []string) []string {
	var out []string
	for _, tag := range languages {
		base, _, _ := strings.Cut(strings.ToLower(tag), "-")
		if slices.Contains(selftest.Languages(), base) && !slices.Contains(out, base) {
			out = append(out, base)
		}
	}
	if len(out) == 0 {
		return []string{"en"}
	}
	return out
}

// writeSelfTestPages writes the findings about a release for staff, in files beside it, and says which.
func writeSelfTestPages(releaseDir string, r selftest.Report) ([]string, error) {
	var g gallery.Gallery
	if err := release.ReadJSON(releaseDir, release.CatalogueFile, &g); err != nil {
		return nil, err
	}
	var pages []string
	for _, language := range pageLanguages(g.Languages) {
		page := selfTestPage(releaseDir, language)
		if err := writeSelfTestPage(page, &g, r, releaseDir, language); err != nil {
			return nil, err
		}
		pages = append(pages, page)
	}
	return pages, nil
}

func writeSelfTestPage(page string, g *gallery.Gallery, r selftest.Report, releaseDir, language string) error {
	var b strings.Builder
	picture := func(file string) string { return filepath.Join(releaseDir, filepath.FromSlash(file)) }
	if err := selftest.WritePage(&b, g, r, picture, language); err != nil {
		return err
	}
	if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("write page of findings: %w", err)
	}
	return nil
}

// lastSelfTest is the last release of a gallery's folder, what its self-test found, and the pages about it that are
// there. The number is 0 where there is no release, or it was not tested.
func lastSelfTest(galleryDir string) (number int, r selftest.Report, pages []string, err error) {
	releases := filepath.Join(galleryDir, "releases")
	if number, err = lastRelease(releases); err != nil || number == 0 {
		return 0, r, nil, err
	}
	dir := filepath.Join(releases, strconv.Itoa(number))
	data, err := os.ReadFile(filepath.Join(dir, release.ManifestFile))
	if err != nil {
		return 0, r, nil, fmt.Errorf("read release %d: %w", number, err)
	}
	m, err := release.DecodeManifest(data)
	if err != nil {
		return 0, r, nil, fmt.Errorf("read release %d: %w", number, err)
	}
	r, tested, err := selfTestReport(m)
	if err != nil || !tested {
		return 0, r, nil, err
	}
	for _, language := range pageLanguages(m.Languages) {
		if page := selfTestPage(dir, language); isFile(page) {
			pages = append(pages, page)
		}
	}
	return number, r, pages, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
