@sessions
Feature: Sessions
  A consumer reads logs and runs commands from the project alone, if the operator allows it.

  Scenario: They are off by default
    Given a namespace in project "north"
    And the consumer is allowed to do everything to "instancesessions.compute.datumapis.com" in the namespace
    When the consumer tries to create an object
      """
      apiVersion: compute.datumapis.com/v1alpha
      kind: InstanceSession
      metadata:
        name: shell
      spec:
        type: Exec
        instanceRef: {name: web-main-dfw-0, uid: 0b8b1c38-7e0f-4d0c-b6f3-0d9d6d6f9b11}
        command: [sh]
        publicKey: |
          -----BEGIN PUBLIC KEY-----
          MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
          -----END PUBLIC KEY-----
      """
    Then that is refused with "the operator has not enabled feature gate InstanceExec"
    And in plane "hub" user "system:serviceaccount:karmada-system:karmada-compute" may not get "clusters.cluster.karmada.io/proxy"
    And in plane "cell/dfw" user "system:serviceaccount:karmada-system:karmada-compute-sessions" may not get "pods/log"
    And in plane "cell/dfw" user "system:serviceaccount:karmada-compute-system:karmada-compute-cell" may not create "rolebindings.rbac.authorization.k8s.io"
