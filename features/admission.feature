@admission
Feature: Admission
  Every replica answers for every project, whatever happens to other replicas, to Leases or to Milo. It answers only callers that
  know its secret path or have credentials. It never prevents a repair.

  Background:
    Given a namespace in project "north"

  Scenario: A caller that is not an API server
    When a client without a certificate calls the admission webhook of replica 0
    Then the call is answered with 401
    When user "consumer" calls the admission webhook of replica 0
    Then the call is answered with 403
    When user "admin" calls the admission webhook of replica 0
    Then the call is answered with 200
    When a client without a certificate calls the admission webhook of replica 0 at a path that is not registered
    Then the call is answered with 404
    When a client without a certificate calls the admission webhook of replica 0 at the registered path
    Then the call is answered with 200
    When a client without a certificate calls the admission webhook of replica 1 at the registered path
    Then the call is answered with 200

  Scenario: Metrics need permission
    When a client without a certificate reads the metrics of replica 0
    Then the call is answered with 401
    When user "consumer" reads the metrics of replica 0
    Then the call is answered with 403
    When user "admin" reads the metrics of replica 0
    Then the call is answered with 200
    And the answer has
      | karmada_compute_webhook_requests_total                       |
      | karmada_compute_webhook_request_duration_seconds             |
      | karmada_compute_webhook_certificate_expiry_timestamp_seconds |
      | karmada_compute_milo_lookups_total                           |
      | karmada_compute_ready 1                                      |

  Scenario: A network that the user may not use
    Given user "newcomer" is allowed to create "workloads.compute.datumapis.com" in every project
    When user "newcomer" dry-runs the sample Workload
    Then that is refused with "spec.template.spec.networkInterfaces[0].network"
    And that is refused with "may not use networks \"default\""

  Scenario: A Secret that the user may not get
    When the consumer tries to create the sample Workload with {"spec":{"template":{"spec":{"volumes":[{"name":"password","secret":{"secretName":"root-password"}}]}}}}
    Then that is refused with "may not get secrets \"root-password\""
    And that is refused with "spec.template.spec.volumes[0]"

  @core @main
  Scenario: One answer names every error
    When the consumer tries to create the sample Workload with {"spec":{"template":{"spec":{"runtime":{"resources":{"instanceType":"huge"},"sandbox":{"containers":[{"name":"a","image":"not an image"},{"name":"b","image":"docker.io/library/nginx:1.27","volumeAttachments":[{"name":"missing","mountPath":"relative"}]}]}}}}}}
    Then that is refused with "spec.template.spec.runtime.sandbox.containers[0].image"
    And that is refused with "instanceType: Unsupported value: \"huge\": supported values: \"datumcloud-d1-standard-2\""
    And that is refused with "spec.template.spec.runtime.sandbox.containers[1].volumeAttachments[0].name"
    And that is refused with "spec.template.spec.runtime.sandbox.containers[1].volumeAttachments[0].mountPath"

  Scenario: A valid template with a likely problem gets a warning
    When the consumer tries to create the sample Workload with {"spec":{"template":{"spec":{"runtime":{"sandbox":{"containers":[{"name":"a","image":"nginx"}]}}}}}}
    Then that is not refused
    And that is warned of "nginx"

  Scenario: More Instances than the project's quota
    Given a namespace in project "south"
    And an operator creates in the project
      """
      apiVersion: quota.miloapis.com/v1alpha1
      kind: ResourceGrant
      metadata: {name: compute}
      spec:
        consumerRef: {apiGroup: resourcemanager.miloapis.com, kind: Project, name: south}
        allowances:
          - resourceType: compute.datumapis.com/instances
            buckets: [{amount: 2}]
      """
    When the consumer dry-runs the sample Workload with {"spec":{"placements":[{"name":"main","cityCodes":["DFW"],"scaleSettings":{"minReplicas":3}}]}}
    Then that is eventually warned of "quota is 2"

  Scenario: A suspended project
    Given a project of its own
    And Workload "runs" runs with
      | placement | cities | replicas |
      | main      | DFW    | 2        |
    And cell "dfw" runs 2 Instances
    When the project is suspended
    And the consumer dry-runs the sample Workload
    Then that is eventually refused with "suspended"
    And cell "dfw" runs exactly the Pods ""
    And cell "dfw" has exactly the instances "runs-main-dfw-0, runs-main-dfw-1"
    And workload "runs" has condition Available False because of "ProjectSuspended"
    And every instance in the project has condition Available False because of "ProjectSuspended"
    When the project is resumed
    Then that is eventually not refused
    And Workload "runs" becomes available with 2 ready Instances
    And none of the Instances in cell "dfw" was replaced

  Scenario: A suspended project that refuses writes
    Given a project of its own
    And Workload "held" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And "status.conditions[?(@.type=='Ready')].lastTransitionTime" of instance "held-main-dfw-0" is remembered as "READY"
    # Transition times have whole seconds, and the rest takes less on an idle machine.
    When 2 seconds pass
    And the project is suspended, and refuses writes
    Then cell "dfw" runs exactly the Pods ""
    And workloaddeployment "held-main-dfw" on the hub has condition Suspended True because of "ProjectSuspended"
    And instance "held-main-dfw-0" still has "status.conditions[?(@.type=='Ready')].lastTransitionTime" "${READY}"
    And workload "held" still has condition Available True
    When the project is resumed
    Then instance "held-main-dfw-0" has another "status.conditions[?(@.type=='Ready')].lastTransitionTime" than "${READY}"
    And Workload "held" becomes available with 1 ready Instances

  Scenario: A project is deleted and recreated
    Given a project of its own
    When the consumer dry-runs the sample Workload
    Then that is eventually not refused
    When an operator deletes project "${project}" in Milo
    And project "${project}" in Milo is gone
    And the project is recreated
    Then that is eventually not refused

  @serial
  Scenario: A replica that has not engaged the project gets the request
    Given replica 1 is restarted without controllers
    And replica 0 has every project
    When only replica 1 is called
    And the consumer creates 500 Workloads
    Then none of them was refused

  @serial
  Scenario: The project moves from replica to replica
    Given replica 1 is restarted without controllers
    And replica 0 has every project
    When only replica 1 is called
    And the consumer creates 20 Workloads a second
    And the shards of the projects are taken from replica 0 3 times, every 5 seconds
    Then none of them was refused

  @serial
  Scenario: A rolling restart
    When the consumer creates 20 Workloads a second
    And replica 0 is restarted
    And replica 1 is restarted
    Then none of them was refused

  @serial
  Scenario: The CA and the paths of the webhooks are rotated
    Given an operator patches secret "karmada-system/karmada-compute-webhook-ca" on the hub with {"data":{"previous.crt":null}}
    When the consumer creates 20 Workloads a second
    And "data['current.crt']" of secret "karmada-system/karmada-compute-webhook-ca" on the hub is remembered as "CA"
    And "data['current']" of secret "karmada-system/karmada-compute-webhook-path" on the hub is remembered as "key"
    And an operator patches secret "karmada-system/karmada-compute-webhook-path" on the hub with {"metadata":{"annotations":{"compute.datumapis.com/rotate":"now"}}}
    And an operator deletes secret "karmada-system/karmada-compute-webhook-ca" on the hub
    And secret "karmada-system/karmada-compute-webhook-ca" on the hub has "data['previous.crt']" "${CA}"
    And secret "karmada-system/karmada-compute-webhook-ca" on the hub has another "data['current.crt']" than "${CA}"
    And secret "karmada-system/karmada-compute-webhook-path" on the hub has "data['previous']" "${key}"
    And secret "karmada-system/karmada-compute-webhook-path" on the hub has no "data['previous']"
    And secret "karmada-system/karmada-compute-webhook-path" on the hub still has another "data['current']" than "${key}"
    Then none of them was refused

  @serial
  Scenario: Milo's root is down
    Given only replica 0 is called
    And the consumer dry-runs the sample Workload
    And that is eventually not refused
    And only replica 1 is called
    And the consumer dry-runs the sample Workload
    And that is eventually not refused
    And every replica is called
    When the consumer creates 5 Workloads a second
    And Milo's root is down
    And a user at project "north" who claims to be in Project "nowhere" tries to create a Workload
    # Longer than the Lease of a replica, the timeout of a request, and the lifetime of any cached answer of Milo.
    Then that is for 20 seconds refused with "Milo cannot be reached"
    And that took less than 5 seconds
    And that is an error and no denial
    And none of them was refused
    When user "admin" reads the metrics of replica 0
    Then the answer has
      | karmada_compute_milo_reachable 0 |
      | karmada_compute_ready 1          |
    When user "admin" reads the metrics of replica 1
    Then the answer has
      | karmada_compute_milo_reachable 0 |
      | karmada_compute_ready 1          |
    When Milo's root is up again
    Then that is within 5 seconds refused with "does not exist"

  @serial
  Scenario: The control plane of one project hangs
    Given the control plane of project "south" does not answer the add-on
    When the consumer creates 10 Workloads a second
    And the consumer dry-runs the sample Workload in project "south"
    Then that is within 20 seconds refused with "could not be looked up"
    And that took less than 10 seconds
    And none of them was refused

  @serial
  Scenario: Every replica is down
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When every replica is stopped
    And the consumer tries to create Workload "other" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then that is refused with "failed calling webhook"
    And namespaces, Pods, Leases and Deployments can still be written at the hub, at Milo and in the project
    And an operator patches validatingwebhookconfiguration "karmada-compute" in Milo with {"metadata":{"labels":{"features.karmada-compute.dev/repaired":"true"}}}
    And the finalizers of workload "web" can still be changed
    And the finalizers of workloaddeployment "web-main-dfw" can still be changed
    And the finalizers of instance "web-main-dfw-0" can still be changed
    # Longer than the Lease of a replica, and than the delay before Karmada's retry.
    And 20 seconds pass
    When an operator deletes pod "web-main-dfw-0" in cell "dfw"
    Then pod "web-main-dfw-0" in cell "dfw" becomes another one
    And cell "dfw" runs exactly the Pods "web-main-dfw-0"
    When every replica is started
    Then Workload "web" becomes available with 1 ready Instances
    And instance "web-main-dfw-0" in cell "dfw" was not replaced
