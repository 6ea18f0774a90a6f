// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strconv"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// Workload decodes a Workload from an untrusted source, with case-sensitive field names as API servers do. It fails on
// quantities that are too long or have too large an exponent, before they are parsed: parsing 1e-1000000000 calculates
// with a number of a billion digits and cannot be cancelled. The schema allows such quantities.
func Workload(raw []byte) (*v1alpha.Workload, error) {
	object := &v1alpha.Workload{}
	return object, bounded(raw, &workloadQuantities{}, object)
}

// WorkloadDeployment is Workload for WorkloadDeployments.
func WorkloadDeployment(raw []byte) (*v1alpha.WorkloadDeployment, error) {
	object := &v1alpha.WorkloadDeployment{}
	return object, bounded(raw, &deploymentQuantities{}, object)
}

func bounded(raw []byte, quantities, object any) error {
	if err := utiljson.Unmarshal(raw, quantities); err != nil {
		return err
	}
	return utiljson.Unmarshal(raw, object)
}

// Limits of quantities. Both are beyond any sensible value.
const (
	// MaxQuantityLength is the longest quantity, in bytes.
	MaxQuantityLength = 64
	// MaxQuantityExponent is the largest absolute value of an exponent.
	MaxQuantityExponent = 40
)

var errQuantity = fmt.Errorf("a quantity is out of any range: use at most %d characters and exponents between -%d and %d",
	MaxQuantityLength, MaxQuantityExponent, MaxQuantityExponent)

// boundedQuantity checks a quantity without parsing it.
type boundedQuantity struct{}

// UnmarshalJSON fails on a quantity that exceeds the limits.
func (*boundedQuantity) UnmarshalJSON(raw []byte) error {
	text := strings.Trim(string(raw), `" `)
	if len(text) > MaxQuantityLength {
		return errQuantity
	}
	at := strings.IndexAny(text, "eE")
	if at < 0 {
		return nil
	}
	exponent, err := strconv.ParseInt(text[at+1:], 10, 32)
	// Other errors concern suffixes with an E, such as E and Ei, or invalid quantities.
	if errors.Is(err, strconv.ErrRange) || err == nil && (exponent > MaxQuantityExponent || exponent < -MaxQuantityExponent) {
		return errQuantity
	}
	return nil
}

// workloadQuantities are all fields of a Workload that hold quantities.
type workloadQuantities struct {
	Spec struct {
		Placements []struct {
			ScaleSettings scaleQuantities `json:"scaleSettings"`
		} `json:"placements"`
		Template templateQuantities `json:"template"`
	} `json:"spec"`
}

// deploymentQuantities are all fields of a WorkloadDeployment that hold quantities.
type deploymentQuantities struct {
	Spec struct {
		InstanceTypeResources map[string]boundedQuantity `json:"instanceTypeResources"`
		ScaleSettings         scaleQuantities            `json:"scaleSettings"`
		Template              templateQuantities         `json:"template"`
		Partition             struct {
			InstanceTypeResources map[string]boundedQuantity `json:"instanceTypeResources"`
			Template              templateQuantities         `json:"template"`
		} `json:"partition"`
	} `json:"spec"`
}

type scaleQuantities struct {
	Behavior struct {
		ScaleUp   rulesQuantities `json:"scaleUp"`
		ScaleDown rulesQuantities `json:"scaleDown"`
	} `json:"behavior"`
	Metrics []struct {
		Resource struct {
			Target struct {
				Value        boundedQuantity `json:"value"`
				AverageValue boundedQuantity `json:"averageValue"`
			} `json:"target"`
		} `json:"resource"`
	} `json:"metrics"`
}

type rulesQuantities struct {
	Tolerance boundedQuantity `json:"tolerance"`
}

type templateQuantities struct {
	Spec struct {
		Controller struct {
			InstanceTypeResources map[string]boundedQuantity `json:"instanceTypeResources"`
		} `json:"controller"`
		Runtime struct {
			Resources quantityLists `json:"resources"`
			Sandbox   struct {
				Containers     []containerQuantities `json:"containers"`
				InitContainers []containerQuantities `json:"initContainers"`
			} `json:"sandbox"`
		} `json:"runtime"`
		Volumes []struct {
			Disk struct {
				Template struct {
					Spec struct {
						Resources quantityLists `json:"resources"`
					} `json:"spec"`
				} `json:"template"`
			} `json:"disk"`
			EmptyDir struct {
				SizeLimit boundedQuantity `json:"sizeLimit"`
			} `json:"emptyDir"`
		} `json:"volumes"`
	} `json:"spec"`
}

type containerQuantities struct {
	Resources quantityLists `json:"resources"`
	Env       []struct {
		ValueFrom struct {
			ResourceFieldRef struct {
				Divisor boundedQuantity `json:"divisor"`
			} `json:"resourceFieldRef"`
		} `json:"valueFrom"`
	} `json:"env"`
}

type quantityLists struct {
	Limits   map[string]boundedQuantity `json:"limits"`
	Requests map[string]boundedQuantity `json:"requests"`
}

// SessionKey returns the public key in spec.publicKey of a session in DER, as certificates have it: an ECDSA key on
// curve P-256 or an Ed25519 key, and no other key.
func SessionKey(text string) ([]byte, error) {
	block, tail := pem.Decode([]byte(text))
	if block == nil || block.Type != "PUBLIC KEY" || strings.TrimSpace(string(tail)) != "" {
		return nil, errors.New("must be one block PUBLIC KEY in PEM")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("must be a public key in PKIX form: %w", err)
	}
	switch key := key.(type) {
	case ed25519.PublicKey:
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() {
			return nil, errors.New("must be on curve P-256")
		}
	default:
		return nil, errors.New("must be an ECDSA P-256 or an Ed25519 key")
	}
	// Encoded again: of several encodings of a key, certificates have this one.
	return x509.MarshalPKIXPublicKey(key)
}
