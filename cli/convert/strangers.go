// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"
)

var (
	// stranger is a name of a cluster alone: of a Service, perhaps with a namespace.
	stranger = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?(\.[a-z]([-a-z0-9]*[a-z0-9])?)?$`)
	// noStranger is a value of an option for hosts that names no host of others, and private the end of a name that the DNS of a company
	// may have.
	noStranger = regexp.MustCompile(`^(localhost|true|false|yes|no|on|off|none|null|auto|any|all|default|` +
		`hostname|ip|internal|external|public|private)$`)
	private = regexp.MustCompile(`\.(internal|intranet|local|lan|corp|home|private|test|example|invalid|localdomain|localhost)$`)
	// beforeServer is a URL of a server before its host.
	beforeServer = regexp.MustCompile(
		`\b(https?|wss?|tcp|grpcs?|rediss?|postgres(ql)?|mysql|mariadb|mongodb|amqps?|nats|ldaps?)://([^\s/@]*@)?$`)
	beforePort = regexp.MustCompile(`\b(nc|telnet)\s(\S+\s+)*$|/dev/(tcp|udp)/$`)
	// port is the number after a name, and afterKey the text after a name that is a key.
	port     = regexp.MustCompile(`^:[0-9]{2,5}`)
	afterKey = regexp.MustCompile(`^["']?\s*[:=]`)
)

// strangerIn returns a name at a place for hosts alone that no Service of the input has: here all are known.
func (m *manifests) strangerIn(text string, from, to int, namespace string, s *slot) string {
	token := text[from:to]
	switch labels := strings.Split(token, "."); {
	case !stranger.MatchString(token), noStranger.MatchString(token), slices.Contains(s.own, token), m.resolves(labels, namespace):
		return ""
	case strings.Contains(text, "upstream "+token) || !s.isHostAlone(text, from, to):
		// A proxy has groups of servers with names of its own.
		return ""
	case len(labels) == 1:
		return token + ", which no Service of the input has: a cell knows it only by a Workload of this name"
	default:
		return token + ", which no Service of the input has, and no cell knows"
	}
}

// resolves reports whether the cluster of the input has a name for what the input has, or the DNS of all has it.
func (m *manifests) resolves(labels []string, namespace string) bool {
	known := func(namespace, name string) bool { return m.hosts[hostKey{namespace, name}].what != "" }
	if len(labels) == 1 {
		return known(namespace, labels[0])
	}
	name := strings.Join(labels, ".")
	suffix, managed := publicsuffix.PublicSuffix(name)
	return known(namespace, name) || known(namespace, labels[1]) || known(labels[1], labels[0]) || managed || strings.Contains(suffix, ".") ||
		private.MatchString(name)
}

// isHostAlone reports whether a word of a text stands where nothing but a host does.
func (s *slot) isHostAlone(text string, from, to int) bool {
	before, after := text[:from], text[to:]
	hasPort := port.MatchString(after)
	name, match := s.name, keyBefore.FindStringSubmatch(before)
	if match != nil {
		name = match[1]
	}
	key := keyOfText(name)
	end := port.ReplaceAllString(after, "")
	isWhole := (match != nil || listBefore.MatchString(before)) && endAfter.MatchString(end) && !afterKey.MatchString(end)
	switch {
	case beforePort.MatchString(before):
		return afterHost.MatchString(":" + strings.TrimLeft(after, " /"))
	case beforeServer.MatchString(before):
		return s.isHost(text, from, to)
	case !isWhole || key.contains(withVersion) || key.isOther(text[from:to]):
		return false
	case hasPort:
		return afterHost.MatchString(after) && (s.position != ofFile || key.isHost())
	default:
		// An address without a port may be the one of a person.
		return key.isCertain() && !strings.HasPrefix(key[len(key)-1], "addr") && !strings.Contains(text[from:to], ".")
	}
}
