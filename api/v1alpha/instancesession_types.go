// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// InstanceSessionType is the kind of stream that a session is for.
// +kubebuilder:validation:Enum=Logs;Exec;Attach;PortForward
type InstanceSessionType string

const (
	// SessionLogs reads the log of a container. It may be read several times until the session expires.
	SessionLogs InstanceSessionType = "Logs"
	// SessionExec runs a command in a container, once.
	SessionExec InstanceSessionType = "Exec"
	// SessionAttach attaches to the process of a container, once.
	SessionAttach InstanceSessionType = "Attach"
	// SessionPortForward connects to ports of an Instance. It may be used for several connections until the session
	// expires.
	SessionPortForward InstanceSessionType = "PortForward"
)

// Bounds of a session.
const (
	// MaxSessionCommandBytes is the largest size of a session's command, all of its items together.
	MaxSessionCommandBytes = 16 << 10
	// MaxSessionPorts is how many ports a session may name.
	MaxSessionPorts = 16
	// DefaultSessionTTLSeconds is the time to live of a session that does not set it.
	DefaultSessionTTLSeconds = 900
)

// SessionInstanceReference names one Instance, and none of its successors of the same name.
type SessionInstanceReference struct {
	// name of the Instance.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// uid of the Instance in the project. It keeps the session from a successor of the same name.
	// +required
	UID types.UID `json:"uid"`
}

// SessionLogOptions select the part of a log to read. They have the meaning of the options of kubectl logs.
type SessionLogOptions struct {
	// follow continues with what the container writes from now on.
	// +optional
	Follow bool `json:"follow,omitempty"`

	// previous reads the log of the container before its last restart.
	// +optional
	Previous bool `json:"previous,omitempty"`

	// timestamps begins every line with the time when it was written.
	// +optional
	Timestamps bool `json:"timestamps,omitempty"`

	// tailLines is how many of the last lines are read. Without it, all are.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TailLines *int64 `json:"tailLines,omitempty"`

	// sinceSeconds reads what was written in the last seconds only.
	// +optional
	// +kubebuilder:validation:Minimum=1
	SinceSeconds *int64 `json:"sinceSeconds,omitempty"`

	// sinceTime reads what was written since that time only.
	// +optional
	SinceTime *metav1.Time `json:"sinceTime,omitempty"`

	// limitBytes ends the log after so many bytes.
	// +optional
	// +kubebuilder:validation:Minimum=1
	LimitBytes *int64 `json:"limitBytes,omitempty"`
}

// InstanceSessionSpec is a permission of one client, for one container and a short time.
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a session cannot be changed; create another one"
type InstanceSessionSpec struct {
	// type of the session: Logs, Exec, Attach or PortForward.
	// +required
	Type InstanceSessionType `json:"type"`

	// instanceRef is the Instance.
	// +required
	InstanceRef SessionInstanceReference `json:"instanceRef"`

	// containerName is the container of the Instance. It may be left out if the Instance has one container.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ContainerName string `json:"containerName,omitempty"`

	// logs are options of type Logs.
	// +optional
	Logs *SessionLogOptions `json:"logs,omitempty"`

	// command is the program and its arguments, for type Exec. No shell interprets it. All items together have at most 16
	// KiB.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=16384
	Command []string `json:"command,omitempty"`

	// ports are the ports of the Instance that the client may connect to, for type PortForward.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=65535
	Ports []int32 `json:"ports,omitempty"`

	// stdin opens the standard input, for types Exec and Attach.
	// +optional
	Stdin bool `json:"stdin,omitempty"`

	// tty allocates a terminal, for types Exec and Attach.
	// +optional
	TTY bool `json:"tty,omitempty"`

	// publicKey is the public key of the client, in PEM (PKIX, ECDSA P-256 or Ed25519). Only a client that has the private
	// key is served. Use another key for every session: a session contains no secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	PublicKey string `json:"publicKey"`

	// ttlSeconds is how long the session lives after its creation, from one minute to one hour. Streams end with it.
	// +optional
	// +default=900
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=3600
	TTLSeconds int32 `json:"ttlSeconds,omitempty"`
}

// InstanceSessionStatus has the URL of the session, and its end.
type InstanceSessionStatus struct {
	// url is where the client connects to, with a certificate for its key.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	URL string `json:"url,omitempty"`

	// caBundle has the CAs in PEM that the certificate of the URL is verified against. Empty: the CAs of the client's
	// system.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	CABundle string `json:"caBundle,omitempty"`

	// expirationTime is when the session ends at the latest.
	// +optional
	ExpirationTime *metav1.Time `json:"expirationTime,omitempty"`

	// userName is the user that created the session.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	UserName string `json:"userName,omitempty"`

	// exitCode is the exit code of the command of a session of type Exec that has ended.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`

	// conditions: Ready is True while a client may connect, or is connected, and False with a lasting reason afterwards.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// EventInstanceSession is the reason of the Event of a command that has used sessions, about an Instance.
const EventInstanceSession = "InstanceSession"

// InstanceSession is a stream between one client and one container of an Instance: its log, a command in it, its
// process, or its ports. The client creates a key and the session, waits for condition Ready, and connects to
// status.url with a certificate for the key.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=isess,categories=compute
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Instance",type=string,priority=1,JSONPath=`.spec.instanceRef.name`
// +kubebuilder:printcolumn:name="User",type=string,JSONPath=`.status.userName`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Exit code",type=integer,priority=1,JSONPath=`.status.exitCode`
// +kubebuilder:printcolumn:name="Expires",type=string,priority=1,JSONPath=`.status.expirationTime`
type InstanceSession struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec InstanceSessionSpec `json:"spec"`
	// +optional
	Status InstanceSessionStatus `json:"status,omitempty"`
}

// InstanceSessionList is a list of InstanceSessions.
//
// +kubebuilder:object:root=true
type InstanceSessionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []InstanceSession `json:"items"`
}

// Permission is the permission that a user needs in the project for a session of this type: a verb and a subresource of
// instances. ok is false for a type that does not exist.
func (t InstanceSessionType) Permission() (verb, subresource string, ok bool) {
	switch t {
	case SessionLogs:
		return "get", "log", true
	case SessionExec:
		return "create", "exec", true
	case SessionAttach:
		return "create", "attach", true
	case SessionPortForward:
		return "create", "portforward", true
	default:
		return "", "", false
	}
}
