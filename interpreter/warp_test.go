// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter_test

import (
	"encoding/json"
	"maps"
	"slices"
)

// plainMaps have keys of users. An API server stores no null in them; Go decodes it as an empty value there, Lua as a
// missing one.
var plainMaps = []string{"instanceTypeResources", "annotations", "labels", "limits", "requests", "matchLabels"}

// warp is a value with members that are null, missing, empty, unknown or unusually written. Go can still decode it.
func (g *generator) warp(value any, name string, inList bool) any {
	switch typed := value.(type) {
	case map[string]any:
		g.warpMembers(typed, name, inList)
	case []any:
		for i := range typed {
			typed[i] = g.warp(typed[i], name, true)
			if g.wholeLists && isEmpty(typed[i]) {
				typed[i] = map[string]any{"unknown": "x"}
			}
		}
	}
	return value
}

// amounts are the members that have quantities.
var amounts = []string{"limits", "requests", "instanceTypeResources"}

func (g *generator) amount(of string) any {
	if of == "instanceTypeResources" && g.one(4) {
		return pick(g, moreQuantities)
	}
	return pick(g, someQuantities)
}

func (g *generator) warpMembers(object map[string]any, name string, inList bool) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		switch {
		case slices.Contains(amounts, name):
			object[key] = g.amount(name)
		case slices.Contains(plainMaps, name):
		case key == "lastTransitionTime" && !g.one(10):
			object[key] = pick(g, someTimes)
		case (!inList || !g.wholeLists) && g.one(25):
			object[key] = nil
		case g.one(40):
			delete(object, key)
		case g.one(30):
			object[key] = emptied(object[key])
		default:
			object[key] = g.warp(object[key], key, inList)
		}
	}
	if g.one(20) && !slices.Contains(plainMaps, name) {
		object["unknown"] = map[string]any{"to": []any{"us", json.Number("9007199254740991"), json.Number("0.25")}}
	}
}

// emptied replaces an object or a list by an empty one, and returns any other value unchanged.
func emptied(value any) any {
	switch value.(type) {
	case map[string]any:
		return map[string]any{}
	case []any:
		return []any{}
	default:
		return value
	}
}

// anything are values of every type, in and out of every range.
var anything = []any{
	nil, true, "", "x", "0-3", "2026-01-01T00:00:00Z", json.Number("0"), json.Number("-1"), json.Number("2.0"),
	json.Number("0.5"), json.Number("1e300"),
	json.Number("2147483648"), json.Number("-2147483649"), json.Number("9007199254740991"),
	json.Number("9007199254740992"), json.Number("-9223372036854775808"),
	map[string]any{},
	[]any{},
	[]any{nil},
	[]any{json.Number("7")},
	[]any{map[string]any{}},
	[]any{[]any{}},
	map[string]any{"x": nil},
	map[string]any{"x": "y"},
}

// spoil is a value in which any JSON stands in place of some values, at any depth.
func (g *generator) spoil(value any) any {
	if g.one(12) {
		return pick(g, anything)
	}
	switch typed := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(typed)) {
			typed[key] = g.spoil(typed[key])
		}
	case []any:
		for i := range typed {
			typed[i] = g.spoil(typed[i])
		}
	}
	return value
}

// garble invalidates one scalar below each member with a name.
func (g *generator) garble(value any, name string) {
	switch typed := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(typed)) {
			if key == name {
				g.garbleBelow(typed, key)
			} else {
				g.garble(typed[key], name)
			}
		}
	case []any:
		for _, member := range typed {
			g.garble(member, name)
		}
	}
}

// garbleBelow descends from a random member. It skips members that the type does not have, and members of a runtime
// that InterpretReplica does not read.
func (g *generator) garbleBelow(object map[string]any, key string) {
	switch typed := object[key].(type) {
	case map[string]any:
		keys := slices.DeleteFunc(slices.Sorted(maps.Keys(typed)), func(key string) bool { return slices.Contains(unread, key) })
		if len(keys) > 0 {
			g.garbleBelow(typed, pick(g, keys))
		}
	case []any:
		if len(typed) > 0 {
			if member, ok := pick(g, typed).(map[string]any); ok {
				g.garbleBelow(map[string]any{"": member}, "")
			}
		}
	case string:
		object[key] = g.garbage(object, key)
	case json.Number:
		object[key] = g.garbage(object, key)
	}
}

// garbage is an invalid value of a member: of another type, too large, or an invalid text.
func (g *generator) garbage(object map[string]any, key string) any {
	_, text := object[key].(string)
	switch {
	case slices.Contains([]string{"cpu", "memory", "example.com/gpu"}, key):
		return pick(g, noQuantities)
	case key == "lastTransitionTime":
		return pick(g, noTimes)
	case text:
		return pick(g, []any{json.Number("7"), true, []any{"x"}, map[string]any{"x": "y"}})
	default:
		return pick(g, []any{"7", true, []any{"x"}, map[string]any{"x": "y"}, json.Number("0.5"), json.Number("9223372036854775808")})
	}
}

// unread are members that affect neither a report nor the size of a runtime.
var unread = []string{
	"unknown", "name", "image", "command", "args", "env", "envFrom", "volumeAttachments", "ports", "imagePullSecrets", "virtualMachine",
	"instanceType", "class", "selector", "workingDir", "readinessProbe", "livenessProbe", "startupProbe", "lifecycle", "securityContext",
	"terminationGracePeriodSeconds",
}
