// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package naming derives the names and the labels of objects from the objects that they belong to. A name must not
// change from one version to the next. It also has the indices of Instances: as text, as ranges and as sets, which cell
// may use which, and which InstanceSlice has which.
package naming

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// maxLabelLength is the longest DNS label and label value, in bytes.
const maxLabelLength = 63

// Revision is the name of the WorkloadRevision with the template of a hash.
func Revision(workload, hash string) string { return Shorten(workload + "-" + hash) }

// Shorten returns name, truncated and with a hash of all of it at its end when it is longer than a DNS label may be.
// Different names stay different.
func Shorten(name string) string {
	if len(name) <= maxLabelLength {
		return name
	}
	hasher := fnv.New64a()
	// Writing to a hash.Hash never returns an error.
	_, _ = hasher.Write([]byte(name))
	hash := strconv.FormatUint(hasher.Sum64(), 36)
	return strings.TrimRight(name[:maxLabelLength-len(hash)-1], "-") + "-" + hash
}

// DeploymentName is the name of the WorkloadDeployment of a Workload's placement in a city.
func DeploymentName(workload, placement, cityCode string) string {
	return Shorten(fmt.Sprintf("%s-%s-%s", workload, placement, CityLabel(cityCode)))
}

// CityLabel is a city code as the value of LabelTopologyCity: in lower case.
func CityLabel(cityCode string) string { return strings.ToLower(cityCode) }

// cityPattern is the pattern of the city codes of a Workload, in lower case.
var cityPattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,14}[a-z0-9])?$`)

// IsCity reports whether a Workload can name a city by this value of LabelTopologyCity.
func IsCity(label string) bool { return cityPattern.MatchString(CityLabel(label)) }

// ConfirmedCity is the city of a Cluster, by the label of the Cluster and by the label of the namespace of its Works,
// which no agent of a cell can write. "": it is a cell of no city.
func ConfirmedCity(cluster, works string) string {
	if city := CityLabel(cluster); city == CityLabel(works) {
		return city
	}
	return ""
}

// InstanceName is the name of the Instance of a deployment at an index.
func InstanceName(deployment string, index int) string {
	return deployment + "-" + strconv.Itoa(index)
}

// InstanceIndex is the index of an Instance of a deployment, by its name. ok is false if InstanceName does not return
// this name for the deployment.
func InstanceIndex(deployment, instance string) (int, bool) {
	suffix, found := strings.CutPrefix(instance, deployment+"-")
	if !found {
		return 0, false
	}
	index, err := strconv.Atoi(suffix)
	if err != nil || index < 0 || strconv.Itoa(index) != suffix {
		return 0, false
	}
	return index, true
}

// hubNamespacePrefix begins the name of every hub namespace.
const hubNamespacePrefix = "ns-"

// HubNamespace is the name of the hub namespace of a project's namespace, by the UIDs of both. Milo keeps namespace
// default and its UID when a project is recreated, so that the UID of the namespace alone does not distinguish the two
// projects.
func HubNamespace(projectUID, namespaceUID string) string {
	sum := sha256.Sum256([]byte(projectUID + "/" + namespaceUID))
	return fmt.Sprintf("%s%x-%x-%x-%x-%x", hubNamespacePrefix, sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// IsHubNamespace reports whether a name has the form of the name of a hub namespace.
func IsHubNamespace(name string) bool { return hubNamespace.MatchString(name) }

var hubNamespace = regexp.MustCompile(`^` + hubNamespacePrefix + `[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// ProjectLabel is the value of LabelProject for a project.
func ProjectLabel(project string) string {
	return Shorten("cluster-" + strings.ReplaceAll(project, "/", "_"))
}

// NetworkLabel is the value of LabelNetwork for a network of a project, which its namespace and name identify:
// "<namespace>.<name>". A namespace has no dot, so that different networks have different values. A value that is not a
// valid label value is replaced by a hash, which has no dot.
func NetworkLabel(namespace, name string) string {
	label := namespace + "." + name
	if len(label) <= maxLabelLength && len(validation.IsDNS1123Label(namespace)) == 0 && len(validation.IsDNS1123Subdomain(name)) == 0 {
		return label
	}
	sum := sha256.Sum256([]byte(namespace + "/" + name))
	return hex.EncodeToString(sum[:16])
}

// ProjectMarkName is the name of the mark of a project on the hub.
func ProjectMarkName(project string) string {
	return Shorten("karmada-compute-project-" + project)
}

// InstanceNetworkLabel is the value of LabelNetwork for an Instance of the deployment with this spec: the network of
// its first interface, since a Pod has one. It is "" without an interface.
func InstanceNetworkLabel(d *v1alpha.WorkloadDeployment, spec *v1alpha.InstanceSpec) string {
	if len(spec.NetworkInterfaces) == 0 {
		return ""
	}
	network := &spec.NetworkInterfaces[0].Network
	// A deployment of no project is in the namespace of its networks.
	return NetworkLabel(cmp.Or(network.Namespace, d.Labels[v1alpha.LabelProjectNamespace], d.Namespace), network.Name)
}

// InstanceLabels are the labels of the Instance at an index, in its cell and in its project: the labels of the
// template, overridden by the labels of the add-on.
func InstanceLabels(d *v1alpha.WorkloadDeployment, index int) map[string]string {
	template, _ := d.Spec.TemplateAt(index)
	labels := maps.Clone(template.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, map[string]string{
		v1alpha.LabelInstanceIndex: strconv.Itoa(index),
		v1alpha.LabelWorkloadUID:   string(d.Spec.WorkloadRef.UID),
		v1alpha.LabelWorkloadName:  d.Spec.WorkloadRef.Name,
		// A copy on the hub or in a cell has the UID of the project WorkloadDeployment as a label.
		v1alpha.LabelDeploymentUID:  cmp.Or(d.Labels[v1alpha.LabelDeploymentUID], string(d.UID)),
		v1alpha.LabelDeploymentName: d.Name,
		v1alpha.LabelCityCode:       d.Spec.CityCode,
		v1alpha.LabelPlacementName:  d.Spec.PlacementName,
	})
	return labels
}

// ShardKey names something that exactly one replica owns, by the shard of the key: a project or a cell.
type ShardKey string

// ProjectKey is the key of a project.
func ProjectKey(project string) ShardKey { return ShardKey(project) }

// CellKey is the key of a cell. No project has a name with a slash.
func CellKey(cell string) ShardKey { return ShardKey("cell/" + cell) }

// Shard is the shard of a key, of count shards. It is the same on every replica with the same number of shards.
func (k ShardKey) Shard(count int) int {
	hasher := fnv.New32a()
	// Writing to a hash.Hash never returns an error.
	_, _ = hasher.Write([]byte(k))
	return int(hasher.Sum32() % uint32(count)) //nolint:gosec // the options of the add-on refuse counts below 1
}
