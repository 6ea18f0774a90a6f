// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Input is a file with objects.
type Input struct {
	// Name of the file, for errors.
	Name string
	io.Reader
}

// mostBytes bounds what is read of one input: an API server takes no object larger than 3 MiB.
const mostBytes = 64 << 20

// source is an object of an input.
type source struct {
	*unstructured.Unstructured
	// input is the name of the file.
	input string
}

// reader collects the objects of inputs, and what is no object.
type reader struct {
	objects  []source
	problems []error
}

// read adds the objects of an input. A document that cannot be read is a problem, and the others are read.
func (r *reader) read(in Input) error {
	limited := &io.LimitedReader{R: in.Reader, N: mostBytes + 1}
	text, err := io.ReadAll(limited)
	if err != nil {
		return fmt.Errorf("%s: %w", in.Name, err)
	}
	if limited.N == 0 {
		return fmt.Errorf("%s has more than %d bytes; split it", in.Name, mostBytes)
	}
	for begin, line := 0, 0; begin < len(text); {
		end, next := len(text), len(text)
		if at := separator.FindIndex(text[begin:]); at != nil {
			end, next = begin+at[0], begin+at[1]
		}
		if err := r.document(in.Name, text[begin:end]); err != nil {
			last := line + 1 + bytes.Count(bytes.TrimRight(text[begin:end], " \t\r\n"), []byte("\n"))
			r.problems = append(r.problems, fmt.Errorf("%s: the document from line %d: %w", in.Name, line+1, inFile(err, line, last)))
		}
		line += bytes.Count(text[begin:next], []byte("\n"))
		begin = next
	}
	return nil
}

var (
	// separator is a line between documents, or its begin, before the first line of a document.
	separator = regexp.MustCompile(`(?m)^---([ \t\r]*(#.*)?(\n|\z)|[ \t]+)`)
	// lineOf is the line of a document in an error.
	lineOf = regexp.MustCompile(`\bline ([0-9]+)(: did not find expected)?`)
)

// inFile counts the lines of an error from the begin of the file, to the last one of its document. The parser counts from 0 what it did not
// expect, and all else from 1.
func inFile(err error, before, last int) error {
	text := lineOf.ReplaceAllStringFunc(err.Error(), func(line string) string {
		match := lineOf.FindStringSubmatch(line)
		number, _ := strconv.Atoi(match[1])
		if match[2] != "" {
			number++
		}
		return fmt.Sprintf("line %d%s", min(before+number, last), match[2])
	})
	return errors.New(text)
}

// document adds the objects of a YAML document, or of a stream of JSON.
func (r *reader) document(input string, text []byte) error {
	// White space belongs to the document: the indentation of its first line, and the last line end of its last text.
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if stream := bytes.TrimSpace(text); len(stream) > 0 && stream[0] == '{' {
		if objects, err := jsonStream(stream); err == nil {
			for _, object := range objects {
				if err := r.add(input, object); err != nil {
					return err
				}
			}
			return nil
		}
		// Braces may begin a document in YAML, too.
	}
	raw, err := yaml.YAMLToJSONStrict(text)
	if err != nil && bytes.Contains(text, []byte("<<:")) {
		// A key that a merge key brings may be set again.
		if merged, mergeErr := yaml.YAMLToJSON(text); mergeErr == nil {
			raw, err = merged, nil
		}
	}
	switch {
	case err != nil && bytes.Contains(text, []byte("{{")):
		return fmt.Errorf("is no YAML; render the chart first, with helm template: %w", err)
	case err != nil:
		return fmt.Errorf("is no YAML: %w", err)
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return fmt.Errorf("is no YAML: %w", err)
	}
	switch object := tree.(type) {
	case nil:
		return nil
	case map[string]any:
		return r.add(input, object)
	default:
		return errors.New("is no object: an object has apiVersion, kind and metadata")
	}
}

// jsonStream returns the objects of a stream of JSON.
func jsonStream(text []byte) ([]map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	var objects []map[string]any
	for {
		object := map[string]any{}
		if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
}

// add adds an object, or each item of a List. An item that is no object is a problem, and the others are added.
func (r *reader) add(input string, tree map[string]any) error {
	object := &unstructured.Unstructured{Object: tree}
	if object.GetKind() == "" || object.GetAPIVersion() == "" {
		return errors.New("is no object: an object has apiVersion, kind and metadata")
	}
	items, isList := tree["items"].([]any)
	if !isList || !strings.HasSuffix(object.GetKind(), "List") {
		r.objects = append(r.objects, source{object, input})
		return nil
	}
	var problems []error
	for i, item := range items {
		if err := r.addItem(input, object, item); err != nil {
			problems = append(problems, fmt.Errorf("items[%d]: %w", i, err))
		}
	}
	return errors.Join(problems...)
}

// addItem adds an item of a list. In a list of one kind, as API servers return it, items have no kind of their own.
func (r *reader) addItem(input string, list *unstructured.Unstructured, item any) error {
	tree, isObject := item.(map[string]any)
	if !isObject {
		return errors.New("is no object: an object has apiVersion, kind and metadata")
	}
	if kind := strings.TrimSuffix(list.GetKind(), "List"); tree["kind"] == nil && kind != "" {
		tree["kind"], tree["apiVersion"] = kind, list.GetAPIVersion()
	}
	return r.add(input, tree)
}
