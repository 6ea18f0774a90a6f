@sessions
Feature: Sessions
  A consumer reads logs and runs commands from the project alone, if the operator allows it.

  @core @main
  Scenario: Sessions are disabled by default
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
    And in plane "cell/dfw" user "karmada-compute-sessions" may not get "pods/log"
    And in plane "cell/dfw" user "system:serviceaccount:karmada-compute-system:karmada-compute-cell" may not create "rolebindings.rbac.authorization.k8s.io"

  @containers @serial @faults
  Scenario: Logs of a process, and commands in its container, from the project alone
    Given cell "hou" runs containers
    And a namespace in project "south"
    And the consumer is allowed to do everything to "instancesessions.compute.datumapis.com" in the namespace
    And the operator offers sessions
    When the consumer creates Workload "web" of 1 in HOU with container {"args":["--log=200ms"],"ports":[{"name":"http","port":8080}]}
    Then Workload "web" becomes available with 1 ready Instances
    # The consumer may get every resource of the API group, and so logs. A command needs a right to the subresource.
    When the consumer runs "kubectl compute exec web-main-hou-0 -- /program env"
    Then the command prints "may not create instances/exec"
    And the command has ended with exit code 1
    Given the consumer is allowed to create "instances.compute.datumapis.com/exec, instances.compute.datumapis.com/portforward" in the namespace
    When the consumer runs "kubectl compute logs web-main-hou-0" until it prints "line 1"
    And the consumer runs "kubectl compute logs web-main-hou-0 --tail=2"
    Then the command has printed 2 lines
    When the consumer starts "kubectl compute logs web --tail=3 -f"
    Then the command prints 20 more lines of the log, each once and in order
    When replica 0 is restarted
    Then the command prints 20 more lines of the log, each once and in order
    When the Pods that carry streams are restarted, one after the other
    Then the command prints 20 more lines of the log, each once and in order
    When the command is interrupted
    Then the command ends with exit code 130
    When the consumer runs "kubectl compute exec web-main-hou-0 -- /program env"
    Then the command prints "HOSTNAME=web-main-hou-0"
    And the command has ended with exit code 0
    When the consumer runs "kubectl compute exec web-main-hou-0 -- /program run 7"
    Then the command has ended with exit code 7
    When the consumer runs "kubectl compute exec web-main-hou-0 -i -- /program cat" with input "from the consumer"
    Then the command prints "from the consumer"
    And the command has ended with exit code 0
    When the consumer runs "kubectl compute exec web-main-hou-0 -- /program none"
    Then the command prints "unknown subcommand"
    And the command has ended with exit code 2
    When the consumer runs "script -qec 'stty cols 77 rows 33; kubectl compute exec web-main-hou-0 -it -- /program terminal 77x33' /dev/null"
    Then the command prints "a terminal: true, 77x33"
    When the consumer starts "kubectl compute port-forward web-main-hou-0 :8080"
    Then the forwarded port answers "web-main-hou-0"
    When the consumer runs "kubectl get isess --no-headers"
    Then the command prints "PortForward   SessionConnected   consumer"
    # The Event follows the end of the session.
    When the consumer runs "kubectl get events --field-selector=reason=InstanceSession" until it prints "a session of type Exec after"
    # --previous shows the log from before the restart of the container.
    When Instance "web-main-hou-0" receives request "/exit?code=3"
    Then pod "web-main-hou-0" in cell "hou" has "status.containerStatuses[0].lastState.terminated.exitCode" "3"
    When the consumer runs "kubectl compute logs web-main-hou-0 --previous" until it prints "exits with code 3"
