// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"regexp"
	"slices"
	"strings"
)

// key is the name of an option, of a variable or of a field in a file, in words.
type key []string

var (
	// humps are where a word begins in a name such as dbHost; number is at the end of one of several names, such as HOST_1.
	humps  = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	number = regexp.MustCompile(`[-_.]?\d+$`)
	// certainWord ends a word for a host, whoever has it; hostWord ends a word for one that is mostly another program's.
	certainWord = regexp.MustCompile(`(^|[^v])host(name|list|string|port)?s?$|addr(ess)?(es)?$|(^|[^c])ur[li]s?$|endpoints?$`)
	hostWord    = regexp.MustCompile(`(server|broker|upstream|target|peer|join|seed|node|svc|dns|dsn|leader|master|primary|` +
		`replica|remote|member|cluster|backend)s?$|(replica|slave)of$`)
	// serverWord is a word for a program that others reach, which may be the value's kind, too.
	serverWord = regexp.MustCompile(`^(redis|valkey|memcached?|postgres(ql)?|pg|mysql|mariadb|mongo(db)?|cassandra|kafka|zookeeper|zk|` +
		`rabbit(mq)?|amqp|nats|elastic(search)?|opensearch|solr|etcd|consul|vault|smtp|mail|ldap|minio|s3|clickhouse|influx(db)?|` +
		`prometheus|loki|tempo|jaeger|zipkin|otlp|collector|gateway|proxy|sentinel|bootstrap|wait|source|` + sorts + `)$`)
	// ofSort is a word whose value is a sort of program, if it is the name of one.
	ofSort = regexp.MustCompile(`^(` + sorts + `)s?$`)
	// peerWord ends a word for a host with the program's own name: others of it.
	peerWord = regexp.MustCompile(`(join|seed|peer|broker|svc|dns)s?$`)
	// otherWord ends the key of another thing than a host.
	otherWord = regexp.MustCompile(`(user|name|password|database|vhost)s?$|^(login|pass|secret|token|key|schema|mode|role|type|` +
		`kind|tag|image|version|env|environment|profile|active|driver|dialect|engine|provider|vendor|connection|exporter|propagator|channel|adapter|format|` +
		`feature|module|plugin|store|section|topic|queue|prefix|namespace|index|bucket|title|app|component|id|group|realm|client|label|release|` +
		`log|logger|logging|debug|level|scope|process|command|task|job|team|tier|stage|audience|issuer|subject|path|route|dir|` +
		`folder|file|filter|set|protocol|owner|lease|selector)s?$`)
	// withVersion is a word for what has a version or a number after a colon, which looks as a port.
	withVersion = regexp.MustCompile(`image|tag|version|(user|owner|chown)s?$`)
)

// sorts are words for programs of several sorts: in --cache=redis a sort, in --cache=cart-cache a host.
const sorts = "db|sql|cache|backend"

func keyOfText(text string) key {
	spaced := strings.ToLower(humps.ReplaceAllString(number.ReplaceAllString(text, ""), "$1-$2"))
	return strings.FieldsFunc(spaced, func(r rune) bool { return strings.ContainsRune("-_. ", r) })
}

// isPeer reports whether the value is a host also if it is the program's own name.
func (k key) isPeer() bool { return k.isCertain() || len(k) > 0 && peerWord.MatchString(k[len(k)-1]) }

func (k key) contains(pattern *regexp.Regexp) bool {
	return slices.ContainsFunc(k, pattern.MatchString)
}

// isCertain reports whether the value is a host, whatever its name is.
func (k key) isCertain() bool {
	words := k
	if n := len(words); n > 1 && words[n-1] == "name" && words[n-2] == "host" {
		words = words[:n-1]
	}
	return len(words) > 0 && certainWord.MatchString(words[len(words)-1])
}

// isOther reports whether a value is another thing than a host.
func (k key) isOther(value string) bool {
	if len(k) == 0 || k.isCertain() {
		return false
	}
	last := k[len(k)-1]
	isSort := ofSort.MatchString(last) && serverWord.MatchString(value) && !ofSort.MatchString(value)
	return isSort || otherWord.MatchString(last) || len(k) > 1 && last == "db" || slices.Equal(k, key{"peer", "service"})
}

// isHost reports whether a value that is no other thing is a host.
func (k key) isHost() bool {
	return slices.Equal(k, key{"h"}) || k.contains(certainWord) || k.contains(hostWord)
}

// leadsTo reports whether an option with a value that is no other thing leads to a host, as --redis=db and --cart=valkey-cart do.
func (k key) leadsTo(host string) bool {
	return k.contains(serverWord) || slices.ContainsFunc(strings.Split(host, "-"), func(part string) bool { return slices.Contains(k, part) })
}
