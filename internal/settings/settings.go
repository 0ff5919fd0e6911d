// Package settings reads a typed configuration from a YAML file and DOCENT_ variables, strictly: a key that does not
// exist is an error, and everything that is wrong is reported at once, each with the path of its key. Kiosk and hub
// share it, which is why it lies in no area. It imports nothing of the house.
package settings

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
)

const (
	envPrefix = "DOCENT_"
	// MaxBytes is how large a file may be.
	MaxBytes = 1 << 20
)

// notSettings are variables with our prefix that belong to tests and to building the page.
var notSettings = []string{"DOCENT_DATA", "DOCENT_URL"}

// Config is a struct of settings whose fields carry koanf tags; its fields are texts, numbers, durations, booleans and
// structs of these.
type Config interface {
	// Validate names all values that will not do, as an [*Error].
	Validate() error
}

// Load reads the YAML file at path ("" for none) over defaults, and environ (as of os.Environ) over both: the key
// model.base_url is the variable DOCENT_MODEL_BASE_URL. All that is wrong is reported at once as an [*Error].
func Load[C Config](path string, environ []string, defaults C) (C, error) {
	var none C
	k := koanf.New(".")
	if path != "" {
		if err := readFile(k, path); err != nil {
			return none, err
		}
	}
	envErr := readEnviron(k, environ, values(defaults))
	c := defaults
	decodeErr := decode(k, &c, values(defaults))
	if err := join(envErr, decodeErr, c.Validate()); err != nil {
		return none, err
	}
	return c, nil
}

func readFile(k *koanf.Koanf, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	if info.Size() > MaxBytes {
		return fmt.Errorf("read configuration %s: %d bytes, at most %d", path, info.Size(), MaxBytes)
	}
	if err := k.Load(file.Provider(path), yaml.Parser()); err != nil {
		return fmt.Errorf("read configuration %s: %w", path, err)
	}
	return nil
}

// readEnviron sets the keys that environ names.
func readEnviron(k *koanf.Koanf, environ []string, known map[string]reflect.Value) error {
	keys := map[string]string{}
	for key := range known {
		keys[envPrefix+strings.ToUpper(strings.ReplaceAll(key, ".", "_"))] = key
	}
	var p Problems
	for _, line := range environ {
		name, value, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, envPrefix) || slices.Contains(notSettings, name) {
			continue
		}
		key, ok := keys[name]
		if !ok {
			p.Add(name, "there is no such setting")
			continue
		}
		if err := k.Set(key, value); err != nil {
			p.Add(name, err.Error())
		}
	}
	return p.Err()
}

// decode puts k over c, and reports unknown keys and values of the wrong type.
func decode(k *koanf.Koanf, c any, known map[string]reflect.Value) error {
	var meta mapstructure.Metadata
	err := k.UnmarshalWithConf("", c, koanf.UnmarshalConf{DecoderConfig: &mapstructure.DecoderConfig{
		Result:     c,
		Metadata:   &meta,
		DecodeHook: scalar,
	}})
	var p Problems
	for _, e := range leaves(err) {
		var d *mapstructure.DecodeError
		if errors.As(e, &d) {
			p.Add(strings.TrimPrefix(d.Name(), "."), d.Unwrap().Error())
		} else {
			p = append(p, e.Error())
		}
	}
	// The decoder lists what it could not use only where all else is well.
	for _, key := range slices.Compact(slices.Sorted(slices.Values(append(unknown(k.Keys(), known), meta.Unused...)))) {
		p.Add(key, "there is no such setting")
	}
	return p.Err()
}

// unknown returns those of keys that are no settings, cut after the first part that is unknown.
func unknown(keys []string, settings map[string]reflect.Value) []string {
	known := map[string]bool{}
	for key := range settings {
		for i, c := range key {
			if c == '.' {
				known[key[:i]] = true
			}
		}
		known[key] = true
	}
	var found []string
	for _, key := range keys {
		parts := strings.Split(key, ".")
		for n := 1; n <= len(parts); n++ {
			if prefix := strings.Join(parts[:n], "."); !known[prefix] {
				found = append(found, prefix)
				break
			}
		}
	}
	return found
}

// leaves takes joined errors apart.
func leaves(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, leaves(e)...)
		}
		return all
	}
	// mapstructure wraps what it joined.
	if _, isDecode := err.(*mapstructure.DecodeError); !isDecode {
		if inner := errors.Unwrap(err); inner != nil {
			return leaves(inner)
		}
	}
	return []error{err}
}

// scalar turns the text of a variable into a number, duration or boolean, and a number of a file into a text: camera 0 and a
// kiosk named 7 are meant as texts.
func scalar(from, to reflect.Type, v any) (any, error) {
	if text, ok := v.(string); ok {
		switch {
		case to == reflect.TypeFor[time.Duration]():
			d, err := time.ParseDuration(text)
			if err != nil {
				return nil, fmt.Errorf("%q is not a duration such as 90s or 5m", text)
			}
			return d, nil
		case to.Kind() == reflect.Int:
			n, err := strconv.Atoi(text)
			if err != nil {
				return nil, fmt.Errorf("%q is not a whole number", text)
			}
			return n, nil
		case to.Kind() == reflect.Float64:
			f, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, fmt.Errorf("%q is not a number", text)
			}
			return f, nil
		case to.Kind() == reflect.Bool:
			b, err := strconv.ParseBool(text)
			if err != nil {
				return nil, fmt.Errorf("%q is neither true nor false", text)
			}
			return b, nil
		}
		return v, nil
	}
	if to == reflect.TypeFor[time.Duration]() {
		return nil, fmt.Errorf("%v is not a duration such as 90s or 5m", v)
	}
	if to.Kind() == reflect.String && (from.Kind() == reflect.Int || from.Kind() == reflect.Float64) {
		return fmt.Sprint(v), nil
	}
	return v, nil
}

// values are all keys of c with their values.
func values(c any) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for i := range v.NumField() {
			key := prefix + v.Type().Field(i).Tag.Get("koanf")
			if v.Field(i).Kind() == reflect.Struct {
				walk(key+".", v.Field(i))
				continue
			}
			all[key] = v.Field(i)
		}
	}
	walk("", reflect.ValueOf(c))
	return all
}

// Print writes a configuration as YAML that [Load] reads again, with secrets hidden.
func Print(w io.Writer, c any) error {
	all := values(c)
	k := koanf.New(".")
	for _, key := range slices.Sorted(maps.Keys(all)) {
		var v any = all[key].Interface()
		if s, ok := v.(fmt.Stringer); ok { // durations and secrets
			v = s.String()
		}
		if err := k.Set(key, v); err != nil {
			return fmt.Errorf("print configuration: %w", err)
		}
	}
	text, err := k.Marshal(yaml.Parser())
	if err != nil {
		return fmt.Errorf("print configuration: %w", err)
	}
	_, err = w.Write(text)
	return err
}
