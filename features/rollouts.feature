@rollout @counts
Feature: Roll out a template
  A new template goes from city to city: one Instance first, then its city, then the next city. A broken template stops at one Instance
  in one city. Every step waits for all Instances that a rollout must keep running.

  Background:
    Given a namespace in project "north"
    And Workload "web" runs with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 2        |
    And workload "web" has "status.rollout.phase" "Complete"

  @core @main
  Scenario: City after city
    When the consumer patches workload "web" with {"spec":{"template":{"spec":{"runtime":{"sandbox":{"containers":[{"name":"app","image":"docker.io/library/nginx:1.28"}]}}}}}}
    Then workload "web" has "status.rollout.revision" "2"
    And workload "web" has "status.rollout.phase" "Complete"
    And workload "web" has "status.updatedReplicas" "4"
    And every instance in the project has "spec.runtime.sandbox.containers[0].image" "docker.io/library/nginx:1.28"
    And workloaddeployment "web-main-dfw" has no "spec.partition"
    And workloaddeployment "web-main-ord" has no "spec.partition"
    When the consumer runs "kubectl compute rollout status web"
    Then the command has ended with exit code 0
    And the command prints "successfully rolled out"
    When the consumer runs "kubectl compute rollout history web"
    Then the command has ended with exit code 0
    And the command prints "docker.io/library/nginx:1.28"

  Scenario: A template that a cell refuses stops no Instance, and its correction continues
    When the consumer patches workload "web" with {"spec":{"template":{"spec":{"runtime":{"class":"nowhere"}}}}}
    Then workload "web" has condition Degraded True because of "RuntimeClassNotServed", saying "DFW: RuntimeClassNotServed: Instance web-main-dfw-1 keeps its template"
    And workload "web" still has "status.availableReplicas" "4"
    And every instance in cell "dfw" still has "metadata.generation" "1"
    And workloaddeployment "web-main-ord" still has "metadata.generation" "1"
    When the consumer patches workload "web" with {"spec":{"template":{"spec":{"runtime":{"class":null,"sandbox":{"containers":[{"name":"app","image":"docker.io/library/nginx:1.28"}]}}}}}}
    Then workload "web" has "status.rollout.phase" "Complete"
    And every instance in the project has "spec.runtime.sandbox.containers[0].image" "docker.io/library/nginx:1.28"
    And workload "web" has condition Degraded False because of "Settled"

  @override
  Scenario: Override policies of an operator, before and during a rollout
    When an operator creates on the hub
      """
      apiVersion: policy.karmada.io/v1alpha1
      kind: ClusterOverridePolicy
      metadata: {name: "mirror-${hubNamespace}"}
      spec:
        resourceSelectors:
        - {apiVersion: compute.datumapis.com/v1alpha, kind: WorkloadDeployment, namespace: "${hubNamespace}"}
        overrideRules:
        - targetCluster: {clusterNames: [dfw]}
          overriders:
            imageOverrider:
            - predicate: {path: /spec/template/spec/runtime/sandbox/containers/0/image}
              component: Registry
              operator: replace
              value: mirror.dfw.example
      """
    Then every instance in cell "dfw" has "spec.runtime.sandbox.containers[0].image" matching "^mirror.dfw.example/"
    And workload "web" has "status.availableReplicas" "4"
    And workload "web" still has "status.updatedReplicas" "4"
    And workload "web" still has "status.rollout.phase" "Complete"
    And workloaddeployment "web-main-dfw" has condition StatusCurrent True because of "Reported", saying "mirror-"
    When the consumer patches workload "web" with {"spec":{"template":{"spec":{"runtime":{"sandbox":{"containers":[{"name":"app","image":"docker.io/library/nginx:1.28"}]}}}}}}
    Then workload "web" has "status.rollout.revision" "2"
    And workload "web" has "status.rollout.phase" "Complete"
    And workload "web" has "status.updatedAvailableReplicas" "4"
    And every instance in cell "dfw" still has "spec.runtime.sandbox.containers[0].image" "mirror.dfw.example/library/nginx:1.28"
    And every instance in cell "ord" still has "spec.runtime.sandbox.containers[0].image" "docker.io/library/nginx:1.28"
    When an operator creates on the hub
      """
      apiVersion: policy.karmada.io/v1alpha1
      kind: ClusterOverridePolicy
      metadata: {name: "replicas-${hubNamespace}"}
      spec:
        resourceSelectors:
        - {apiVersion: compute.datumapis.com/v1alpha, kind: WorkloadDeployment, namespace: "${hubNamespace}"}
        overrideRules:
        - targetCluster: {clusterNames: [ord]}
          overriders:
            plaintext:
            - {path: /spec/scaleSettings/minReplicas, operator: replace, value: 5}
      """
    Then workloaddeployment "web-main-ord" has condition SpecReceived False because of "FieldsOverridden", saying "spec.scaleSettings"
    And workload "web" still has "status.availableReplicas" "4"
    When an operator deletes clusteroverridepolicy "replicas-${hubNamespace}" on the hub
    And an operator deletes clusteroverridepolicy "mirror-${hubNamespace}" on the hub
    Then every instance in cell "dfw" has "spec.runtime.sandbox.containers[0].image" "docker.io/library/nginx:1.28"
    And workload "web" has "status.availableReplicas" "4"
    And workload "web" still has "status.rollout.phase" "Complete"
    And workloaddeployment "web-main-ord" has no condition SpecReceived

  @override
  Scenario: While a city refuses an override, no other city gets one
    When an operator creates on the hub
      """
      apiVersion: policy.karmada.io/v1alpha1
      kind: ClusterOverridePolicy
      metadata: {name: "class-dfw-${hubNamespace}"}
      spec:
        resourceSelectors:
        - {apiVersion: compute.datumapis.com/v1alpha, kind: WorkloadDeployment, namespace: "${hubNamespace}"}
        overrideRules:
        - targetCluster: {clusterNames: [dfw]}
          overriders:
            plaintext:
            - {path: /spec/template/spec/runtime/class, operator: add, value: nowhere}
      """
    Then workloaddeployment "web-main-dfw" has condition TemplateAccepted False because of "RuntimeClassNotServed", saying "web-main-dfw-1"
    When an operator creates on the hub
      """
      apiVersion: policy.karmada.io/v1alpha1
      kind: ClusterOverridePolicy
      metadata: {name: "class-ord-${hubNamespace}"}
      spec:
        resourceSelectors:
        - {apiVersion: compute.datumapis.com/v1alpha, kind: WorkloadDeployment, namespace: "${hubNamespace}"}
        overrideRules:
        - targetCluster: {clusterNames: [ord]}
          overriders:
            plaintext:
            - {path: /spec/template/spec/runtime/class, operator: add, value: nowhere}
      """
    Then workload "web" has condition Progressing True because of "RollingOut", saying "ORD: an override policy has changed the template in cell ord"
    And workloaddeployment "web-main-ord" has no condition TemplateAccepted
    And workload "web" still has "status.availableReplicas" "4"
    And workload "web" still has "status.rollout.phase" "Complete"
    When an operator deletes clusteroverridepolicy "class-dfw-${hubNamespace}" on the hub
    And an operator deletes clusteroverridepolicy "class-ord-${hubNamespace}" on the hub
    Then workload "web" has condition Progressing False because of "Settled"
    And every instance in the project still has "metadata.generation" "1"
    When an operator creates on the hub
      """
      apiVersion: policy.karmada.io/v1alpha1
      kind: ClusterOverridePolicy
      metadata: {name: "mirrors-${hubNamespace}"}
      spec:
        resourceSelectors:
        - {apiVersion: compute.datumapis.com/v1alpha, kind: WorkloadDeployment, namespace: "${hubNamespace}"}
        overrideRules:
        - targetCluster: {clusterNames: [dfw, ord]}
          overriders:
            imageOverrider:
            - predicate: {path: /spec/template/spec/runtime/sandbox/containers/0/image}
              component: Registry
              operator: replace
              value: mirror.example
      """
    Then every instance in cell "ord" has "spec.runtime.sandbox.containers[0].image" matching "^mirror.example/"
    And every instance in cell "dfw" has "spec.runtime.sandbox.containers[0].image" matching "^mirror.example/"
    And workload "web" has condition Progressing False because of "Settled"
    And workload "web" still has "status.availableReplicas" "4"
    And workload "web" still has "status.rollout.revision" "1"

  @core
  Scenario: An undo leaves healthy Instances alone
    Given "metadata.uid" of pod "web-main-ord-1" in cell "ord" is remembered as "ORD"
    And "metadata.uid" of pod "web-main-dfw-0" in cell "dfw" is remembered as "DFW"
    When the consumer patches workload "web" with {"spec":{"template":{"spec":{"runtime":{"class":"nowhere"}}}}}
    Then workload "web" has condition Degraded True because of "RuntimeClassNotServed"
    When the consumer runs "kubectl compute rollout undo web"
    Then the command prints "web rolled back"
    Then workload "web" has "status.rollout.phase" "Complete"
    And workload "web" has "status.rollout.revision" "3"
    And workload "web" has "status.availableReplicas" "4"
    And pod "web-main-ord-1" in cell "ord" still has "metadata.uid" "${ORD}"
    And pod "web-main-dfw-0" in cell "dfw" still has "metadata.uid" "${DFW}"

  Scenario: A paused rollout updates no Instance
    When the consumer patches workload "web" with {"spec":{"rollout":{"paused":true},"template":{"spec":{"runtime":{"sandbox":{"containers":[{"name":"app","image":"docker.io/library/nginx:1.28"}]}}}}}}
    Then workload "web" has condition Progressing Unknown because of "RolloutPaused"
    And workloaddeployment "web-main-dfw" still has "metadata.generation" "1"
    When the consumer patches workload "web" with {"spec":{"rollout":{"paused":false}}}
    Then workload "web" has "status.rollout.phase" "Complete"
    And every instance in the project has "spec.runtime.sandbox.containers[0].image" "docker.io/library/nginx:1.28"

  Scenario: A batch, a pause, a city that is removed and added, and an undo after a failure
    When the consumer patches workload "web" with {"spec":{"rollout":{"batch":"25%","pauseAfter":1},"template":{"spec":{"runtime":{"sandbox":{"containers":[{"name":"app","image":"docker.io/library/nginx:1.28"}]}}}}}}
    Then workload "web" has "status.rollout.phase" "Paused"
    And workload "web" still has "status.updatedReplicas" "1"
    When the consumer patches workload "web" with {"spec":{"placements":[{"name":"main","cityCodes":["DFW"],"scaleSettings":{"minReplicas":2}}]}}
    Then workloaddeployment "web-main-ord" is gone
    And workload "web" has "status.replicas" "2"
    # A new city has the earlier template until its turn.
    When the consumer patches workload "web" with {"spec":{"placements":[{"name":"main","cityCodes":["DFW","ORD"],"scaleSettings":{"minReplicas":2}}]}}
    Then workload "web" has "status.availableReplicas" "4"
    And workload "web" still has "status.updatedReplicas" "1"
    When the consumer runs "kubectl compute rollout resume web"
    Then the command prints "web resumed"
    And workload "web" has "status.rollout.phase" "Complete"
    And every instance in the project has "spec.runtime.sandbox.containers[0].image" "docker.io/library/nginx:1.28"
    Given "metadata.uid" of pod "web-main-dfw-0" in cell "dfw" is remembered as "DFW"
    When the consumer patches workload "web" with {"spec":{"rollout":{"onFailure":"Undo","progressDeadlineSeconds":5},"template":{"spec":{"runtime":{"class":"nowhere"}}}}}
    Then workload "web" has "status.rollout.phase" "Undone"
    And workload "web" has "status.availableReplicas" "4"
    And pod "web-main-dfw-0" in cell "dfw" still has "metadata.uid" "${DFW}"
    When the consumer runs "kubectl compute rollout status web"
    Then the command has ended with exit code 1

  @serial
  Scenario Outline: A replica that is killed in the middle of a rollout
    When the consumer patches workload "web" with {"spec":{"template":{"spec":{"runtime":{"sandbox":{"containers":[{"name":"app","image":"docker.io/library/nginx:1.28"}]}}}}}}
    And replica <replica> is killed
    And the other replicas take over from it
    Then workload "web" has "status.rollout.phase" "Complete"
    And every instance in the project has "spec.runtime.sandbox.containers[0].image" "docker.io/library/nginx:1.28"
    When replica <replica> is started
    Then workload "web" still has "status.rollout.revision" "2"

    Examples:
      | replica |
      | 0       |
      | 1       |
