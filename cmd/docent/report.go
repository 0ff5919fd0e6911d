package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// report writes what a command found as indented JSON to a file, "-" for standard output, nothing where none is named. It
// says whether the command is to say it in words as well: JSON on standard output stands alone.
func (t *terminal) report(file string, v any) (inWords bool, err error) {
	if file == "" {
		return true, nil
	}
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return false, fmt.Errorf("write %s: %w", file, err)
	}
	data = append(data, '\n')
	if file == "-" {
		_, err = t.out.Write(data)
	} else {
		err = os.WriteFile(file, data, 0o644)
	}
	if err != nil {
		return false, fmt.Errorf("write report: %w", err)
	}
	return file != "-", nil
}

// summary reports what was measured.
func (t *terminal) summary(file string, measured interface{ Summary() string }) error {
	inWords, err := t.report(file, measured)
	if err != nil || !inWords {
		return err
	}
	_, err = fmt.Fprintln(t.out, strings.TrimRight(measured.Summary(), "\n"))
	return err
}
