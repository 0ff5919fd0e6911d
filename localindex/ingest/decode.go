package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"docent/localindex/gallery"
)

// yamlFile is a piece of YAML whose every problem is reported with its file and line.
type yamlFile struct {
	file   string
	before int // lines of the file before the YAML
	root   *yaml.Node
	report *report
	// languages are those of the gallery; the first is what a text without a language is in. Empty means that texts
	// in several languages are not expected here.
	languages []string
}

// parseYAML reads one YAML document, a mapping. Where it cannot be read at all, that is reported and ok is false.
func parseYAML(file string, before int, data []byte, rep *report) (_ *yamlFile, ok bool) {
	y := &yamlFile{file: file, before: before, report: rep}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		y.root = &yaml.Node{Kind: yaml.MappingNode, Line: 1}
		return y, true
	}
	if err != nil {
		line, message := yamlError(err)
		rep.errorf(file, before+line, "%s", message)
		return nil, false
	}
	var more yaml.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		rep.errorf(file, before+max(1, more.Line), "a second YAML document begins here (after ---); only one is allowed")
		return nil, false
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		rep.errorf(file, before+max(1, doc.Line), "expected keys with values, such as \"id: my-gallery\"")
		return nil, false
	}
	y.root = doc.Content[0]
	return y, true
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)$`)

// yamlError takes the line out of an error of the YAML library, whose errors are texts only.
func yamlError(err error) (line int, message string) {
	m := yamlLine.FindStringSubmatch(strings.TrimSpace(strings.SplitN(err.Error(), "\n", 2)[0]))
	line, message = 1, err.Error()
	if m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
		message = m[2]
	}
	return line, "this is not valid YAML: " + message
}

// decode reads the YAML into the struct v points to, by the names of its json tags. It is strict: unknown and
// repeated keys and values of another kind are problems.
func (y *yamlFile) decode(v any) {
	y.value(y.root, "", reflect.ValueOf(v).Elem())
}

var localizedType = reflect.TypeFor[gallery.Localized]()

func (y *yamlFile) value(n *yaml.Node, name string, v reflect.Value) {
	if n.Kind == yaml.AliasNode {
		y.problem(n, "%s: YAML aliases (*%s) are not supported; write the value out", name, n.Value)
		return
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	if v.Type() == localizedType {
		y.localized(n, name, v)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		y.object(n, name, v)
	case reflect.Slice:
		y.list(n, name, v)
	case reflect.Array:
		y.array(n, name, v)
	case reflect.Map:
		y.dictionary(n, name, v)
	default:
		y.scalar(n, name, v)
	}
}

// object reads a mapping into a struct.
func (y *yamlFile) object(n *yaml.Node, name string, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		y.problem(n, "%s: expected keys with values, found %s", name, kindName(n))
		return
	}
	fields := map[string]reflect.Value{}
	var known []string
	for i := range v.NumField() {
		key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		fields[key] = v.Field(i)
		known = append(known, key)
	}
	y.pairs(n, name, func(key string, keyNode, value *yaml.Node) {
		field, ok := fields[key]
		if !ok {
			y.problem(keyNode, "unknown key %q%s", join(name, key), suggestion(key, known))
			return
		}
		y.value(value, join(name, key), field)
	})
}

// pairs calls f for each key of a mapping, and reports those that are repeated or no text.
func (y *yamlFile) pairs(n *yaml.Node, name string, f func(key string, keyNode, value *yaml.Node)) {
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			y.problem(key, "%s: a key must be a word, found %s", name, kindName(key))
			continue
		}
		if line, ok := first[key.Value]; ok {
			y.problem(key, "key %q is written twice, first in line %d", join(name, key.Value), line)
			continue
		}
		first[key.Value] = y.before + key.Line
		f(key.Value, key, value)
	}
}

// list reads a sequence into a slice; one value alone counts as a list of one.
func (y *yamlFile) list(n *yaml.Node, name string, v reflect.Value) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	} else if n.Kind == yaml.MappingNode && v.Type().Elem() != localizedType {
		y.problem(n, "%s: expected a list (lines that begin with \"-\"), found %s", name, kindName(n))
		return
	}
	out := reflect.MakeSlice(v.Type(), len(items), len(items))
	for i, item := range items {
		if item.Kind == yaml.ScalarNode && item.Tag == "!!null" {
			y.problem(item, "%s: item %d is empty", name, i+1)
			continue
		}
		y.value(item, fmt.Sprintf("%s[%d]", name, i+1), out.Index(i))
	}
	v.Set(out)
}

// array reads a sequence of exactly as many values as the array has.
func (y *yamlFile) array(n *yaml.Node, name string, v reflect.Value) {
	if n.Kind != yaml.SequenceNode || len(n.Content) != v.Len() {
		y.problem(n, "%s: expected %d numbers in brackets, such as [2.5, 4]", name, v.Len())
		return
	}
	for i, item := range n.Content {
		y.value(item, name, v.Index(i))
	}
}

// dictionary reads a mapping of words to words.
func (y *yamlFile) dictionary(n *yaml.Node, name string, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		y.problem(n, "%s: expected keys with values, found %s", name, kindName(n))
		return
	}
	out := reflect.MakeMap(v.Type())
	y.pairs(n, name, func(key string, _, value *yaml.Node) {
		var s string
		y.value(value, join(name, key), reflect.ValueOf(&s).Elem())
		out.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(s))
	})
	v.Set(out)
}

// localized reads {en: …, zh: …}, or one text in the default language.
func (y *yamlFile) localized(n *yaml.Node, name string, v reflect.Value) {
	out := gallery.Localized{}
	switch {
	case n.Kind == yaml.ScalarNode && len(y.languages) > 0:
		out[y.languages[0]] = strings.TrimSpace(n.Value)
	case n.Kind == yaml.MappingNode:
		y.pairs(n, name, func(key string, keyNode, value *yaml.Node) {
			if !slices.Contains(y.languages, key) {
				y.problem(keyNode, "%s: language %q is not one of the gallery's (%s)", name, key, strings.Join(y.languages, ", "))
				return
			}
			var s string
			y.value(value, join(name, key), reflect.ValueOf(&s).Elem())
			if s != "" {
				out[key] = s
			}
		})
	default:
		y.problem(n, "%s: expected a text in each language, such as {en: …, zh: …}, found %s", name, kindName(n))
	}
	v.Set(reflect.ValueOf(out))
}

func (y *yamlFile) scalar(n *yaml.Node, name string, v reflect.Value) {
	if n.Kind != yaml.ScalarNode {
		hint := ""
		if n.Kind == yaml.MappingNode && v.Kind() == reflect.String && len(y.languages) == 0 {
			hint = "; translations go into a file of their own, such as my-exhibit.zh.md"
		}
		y.problem(n, "%s: expected one value, found %s%s", name, kindName(n), hint)
		return
	}
	text := strings.TrimSpace(n.Value)
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			y.problem(n, "%s: %q is not a number", name, text)
			return
		}
		v.SetFloat(f)
	case reflect.Int:
		i, err := strconv.Atoi(text)
		if err != nil {
			y.problem(n, "%s: %q is not a whole number", name, text)
			return
		}
		v.SetInt(int64(i))
	case reflect.Bool:
		switch strings.ToLower(text) {
		case "true", "yes", "on":
			v.SetBool(true)
		case "false", "no", "off":
			v.SetBool(false)
		default:
			y.problem(n, "%s: %q is neither true nor false", name, text)
		}
	default:
		panic(fmt.Sprintf("decode YAML into %s: not supported", v.Type())) // a type of ours, not an input
	}
}

func (y *yamlFile) problem(n *yaml.Node, format string, args ...any) {
	y.report.errorf(y.file, y.before+n.Line, format, args...)
}

// errorf and warnf report a problem at the line of the value that path leads to: keys and 0-based indexes from the
// root. Where the path ends early, it is the line of the last value found.
func (y *yamlFile) errorf(path []any, format string, args ...any) {
	y.report.errorf(y.file, y.line(path), format, args...)
}

func (y *yamlFile) warnf(path []any, format string, args ...any) {
	y.report.warnf(y.file, y.line(path), format, args...)
}

func (y *yamlFile) line(path []any) int {
	n, line := y.root, y.root.Line
	for _, step := range path {
		keyLine := 0
		n, keyLine = child(n, step)
		if n == nil {
			break
		}
		line = keyLine
	}
	return y.before + max(1, line)
}

// child returns the value of a key or at an index, and the line its key is in.
func child(n *yaml.Node, step any) (*yaml.Node, int) {
	switch step := step.(type) {
	case string:
		if n.Kind != yaml.MappingNode {
			return nil, 0
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i+1], n.Content[i].Line
			}
		}
	case int:
		if n.Kind == yaml.SequenceNode && step < len(n.Content) {
			return n.Content[step], n.Content[step].Line
		}
		if n.Kind != yaml.SequenceNode && step == 0 {
			return n, n.Line
		}
	}
	return nil, 0
}

func join(name, key string) string {
	if name == "" {
		return key
	}
	return name + "." + key
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys with values"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	return fmt.Sprintf("%q", n.Value)
}
