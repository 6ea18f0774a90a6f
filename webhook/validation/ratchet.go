// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// place is the position of a problem in two forms: path is for the user, with indexes, and key is for ratcheting. In
// key an element of a list is identified by its list map key, or by nothing if the list has none: an old problem must
// not be reported because an element was inserted before it.
type place struct {
	path, key *field.Path
}

func (p place) child(name string, more ...string) place {
	return place{path: p.path.Child(name, more...), key: p.key.Child(name, more...)}
}

// item is an element of a list.
func (p place) item(index int, key string) place {
	return place{path: p.path.Index(index), key: p.key.Key(key)}
}

// entry is an entry of a map.
func (p place) entry(key string) place {
	return place{path: p.path.Key(shorten(key)), key: p.key.Key(key)}
}

// identity identifies a problem before and after a change. It never leaves this package, so it may hold values that an
// error must not show.
type identity struct {
	rule  field.ErrorType
	key   string
	value string
	text  string
}

// problems collects the problems of a Workload.
type problems struct {
	list       field.ErrorList
	identities []identity
}

// without returns the problems that are not in known. It counts them: of two containers with the same invalid name, one
// may be old and the other new.
func (p *problems) without(known *problems) field.ErrorList {
	left := make(map[identity]int, len(known.identities))
	for _, id := range known.identities {
		left[id]++
	}
	var result field.ErrorList
	for i, id := range p.identities {
		if left[id] > 0 {
			left[id]--
			continue
		}
		result = append(result, p.list[i])
	}
	return result
}

func (p *problems) add(at place, value any, problem *field.Error) {
	p.list = append(p.list, problem)
	p.identities = append(p.identities, identity{
		rule: problem.Type, key: at.key.String(), value: fmt.Sprint(value), text: problem.Detail,
	})
}

func (p *problems) invalid(at place, value any, detail string) {
	p.add(at, value, field.Invalid(at.path, shown(value), detail))
}

// messages adds a problem for each message of an apimachinery validator about a value.
func (p *problems) messages(at place, value string, messages []string) {
	for _, message := range messages {
		p.invalid(at, value, message)
	}
}

// hidden adds a problem of a value that must not be shown. line is its position in the field, and not part of the
// identity.
func (p *problems) hidden(at place, value, detail, line string) {
	p.list = append(p.list, field.Invalid(at.path, field.OmitValueType{}, line+detail))
	p.identities = append(p.identities, identity{rule: field.ErrorTypeInvalid, key: at.key.String(), value: value, text: detail})
}

func (p *problems) required(at place, detail string) {
	p.add(at, "", field.Required(at.path, detail))
}

// forbidden adds a problem whose value is part of the identity and not shown.
func (p *problems) forbidden(at place, value any, detail string) {
	p.add(at, value, field.Forbidden(at.path, detail))
}

func (p *problems) notFound(at place, value string) {
	p.add(at, value, field.NotFound(at.path, shown(value)))
}

func (p *problems) unsupported(at place, value string, supported ...string) {
	p.add(at, value, field.NotSupported(at.path, shown(value), supported))
}

// unique adds a problem if a value was seen before. An empty value is left to other rules.
func (p *problems) unique(at place, seen sets.Set[string], value string) {
	if value == "" {
		return
	}
	if seen.Has(value) {
		p.add(at, value, field.Duplicate(at.path, shown(value)))
	}
	seen.Insert(value)
}

// longest is how many bytes of a value an error shows.
const longest = 256

func shown(value any) any {
	if text, ok := value.(string); ok {
		return shorten(text)
	}
	return value
}

func shorten(text string) string {
	if len(text) <= longest {
		return text
	}
	end := longest
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.ToValidUTF8(text[:end], "?") + "..."
}
