// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	sigsjson "sigs.k8s.io/json"
)

// decode decodes an object. Fields of the status that the type does not have are of no interest; the others are
// returned.
func decode(object source, into any) (unknown []error, err error) {
	tree := object.DeepCopy()
	delete(tree.Object, "status")
	unstructured.RemoveNestedField(tree.Object, "metadata", "managedFields")
	raw, err := tree.MarshalJSON()
	if err != nil {
		return nil, err
	}
	unknown, err = sigsjson.UnmarshalStrict(raw, into, sigsjson.DisallowUnknownFields)
	return unknown, typeOf(err)
}

// typeOf words the error of a value of another type as a person who writes YAML sees it: a number or a word such as yes
// is a text only in quotes.
func typeOf(err error) error {
	var other *json.UnmarshalTypeError
	if !errors.As(err, &other) {
		return err
	}
	wanted, advice := "an object", ""
	switch other.Type.Kind() {
	case reflect.String:
		wanted, advice = "a text", "; put it in quotes"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		wanted = "a whole number"
		if other.Value == "string" {
			advice = "; remove the quotes"
		}
	case reflect.Bool:
		wanted = "true or false"
	case reflect.Slice, reflect.Array:
		wanted, advice = "a list", "; begin each item with -"
	default:
	}
	return fmt.Errorf("%s is a %s, and must be %s%s", other.Field, other.Value, wanted, advice)
}
