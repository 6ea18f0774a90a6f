@namespaces
Feature: Without Milo
  A labelled namespace of the hub is a project. Ordinary roles make a consumer, and every city with a cell is open.

  Scenario: The first Instance runs, and its deletion leaves no objects
    Given a namespace of the hub that is a project
    When the consumer creates Workload "web" with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 1        |
    Then Workload "web" becomes available with 2 ready Instances
    And instance "web-main-dfw-0" has condition Ready True because of "Available"
    And instance "web-main-ord-0" has condition Ready True because of "Available"
    And pod "${hubNamespace}/web-main-dfw-0" in cell "dfw" exists
    When the consumer deletes workload "web"
    Then the project has nothing of the namespace
    And the hub has nothing of the namespace

  Scenario: Admission refuses a city that the project may not use
    Given a namespace of the hub that is a project
    When the consumer tries to create Workload "web" with
      | placement | cities   | replicas |
      | main      | DFW, XYZ | 1        |
    Then that is refused with "spec.placements[0].cityCodes[1]: Unsupported value"
    When an operator patches namespace "${namespace}" on the hub with {"metadata":{"annotations":{"compute.datumapis.com/cities":"ORD"}}}
    And the consumer tries to create Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then that is eventually refused with "spec.placements[0].cityCodes[0]: Unsupported value"

  Scenario: A namespace without the label is no project
    Given a namespace of the hub without the label
    When the consumer tries to create Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then that is refused with "label it compute.datumapis.com/project=true"
    When an operator patches namespace "${namespace}" on the hub with {"metadata":{"labels":{"compute.datumapis.com/project":"true"}}}
    Then that is eventually not refused

  Scenario: A suspended project runs nothing, and resumes
    Given a namespace of the hub that is a project
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When an operator patches namespace "${namespace}" on the hub with {"metadata":{"labels":{"compute.datumapis.com/project":"suspended"}}}
    Then pod "${hubNamespace}/web-main-dfw-0" in cell "dfw" is gone
    When the consumer tries to create Workload "more" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then that is refused with "is suspended"
    When an operator patches namespace "${namespace}" on the hub with {"metadata":{"labels":{"compute.datumapis.com/project":"true"}}}
    Then Workload "web" becomes available with 1 ready Instances

  Scenario: A project that loses its label keeps its Instances, and admits no new Workloads
    Given a namespace of the hub that is a project
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When an operator patches namespace "${namespace}" on the hub with {"metadata":{"labels":{"compute.datumapis.com/project":null}}}
    And the consumer dry-runs the sample Workload
    Then that is eventually refused with "is not a project"
    And pod "${hubNamespace}/web-main-dfw-0" in cell "dfw" exists
    When the consumer deletes workload "web"
    Then the project has nothing of the namespace
    And the hub has nothing of the namespace

  Scenario: A namespace that is recreated is another project
    Given a namespace of the hub that is a project
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And "metadata.name" of namespace "${hubNamespace}" on the hub is remembered as "EARLIER"
    When an operator patches namespace "${namespace}" on the hub with {"metadata":{"annotations":{"compute.datumapis.com/break-glass":"a scenario"}}}
    And an operator deletes namespace "${namespace}" on the hub
    Then namespace "${namespace}" on the hub is gone
    And the hub has nothing of the namespace
    When the namespace is recreated
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then pod "${hubNamespace}/web-main-dfw-0" in cell "dfw" exists
    And namespace "${EARLIER}" on the hub does not exist

  Scenario: Two projects are isolated, and no consumer owns a hub namespace
    Given a namespace of the hub that is a project
    And a second namespace of the hub that is a project, "other"
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then workload "${other}/web" on the hub does not exist
    # A user with every role in a namespace still cannot write objects that only the add-on writes.
    When an operator tries to patch workloaddeployment "web-main-dfw" with {"metadata":{"labels":{"meta.datumapis.com/upstream-cluster-name":"cluster-other"}}}
    Then that is refused with "is created and kept by karmada-compute"

  # As on every Karmada, roles edit and admin of the hub include Karmada's kinds.
  @guard
  Scenario: Users of the hub reach no cell and no project past the add-on
    Given a namespace of the hub that is a project
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And an operator creates on the hub
      """
      apiVersion: rbac.authorization.k8s.io/v1
      kind: RoleBinding
      metadata: {namespace: "${namespace}", name: editor}
      roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
      subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: editor}]
      """
    And an operator creates on the hub
      """
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRole
      metadata: {name: "tenant-${namespace}"}
      rules: [{apiGroups: [""], resources: [namespaces], verbs: [create]}]
      """
    And an operator creates on the hub
      """
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRoleBinding
      metadata: {name: "tenant-${namespace}"}
      roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "tenant-${namespace}"}
      subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: tenant}]
      """
    When the consumer tries to create an object on the hub
      """
      apiVersion: policy.karmada.io/v1alpha1
      kind: PropagationPolicy
      metadata: {namespace: "${namespace}", name: all}
      spec: {resourceSelectors: [{apiVersion: v1, kind: Pod}], placement: {}}
      """
    Then that is refused with "cannot create resource"
    When user "editor" tries to create an object on the hub
      """
      apiVersion: policy.karmada.io/v1alpha1
      kind: PropagationPolicy
      metadata: {namespace: "${namespace}", name: all}
      spec: {resourceSelectors: [{apiVersion: v1, kind: Pod}], placement: {}}
      """
    Then that is eventually refused with "create a Workload instead"
    When user "editor" tries to create an object on the hub
      """
      apiVersion: work.karmada.io/v1alpha2
      kind: ResourceBinding
      metadata: {namespace: "${namespace}", name: x}
      spec: {resource: {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, name: instances.compute.datumapis.com}, clusters: [{name: dfw}]}
      """
    Then that is refused with "create a Workload instead"
    When user "tenant" tries to create an object on the hub
      """
      apiVersion: v1
      kind: Namespace
      metadata:
        name: ns-00000000-0000-4000-8000-000000000001
        labels: {compute.datumapis.com/project: "true"}
      """
    Then that is eventually refused with "the hub namespaces of karmada-compute; choose another name"
    # A policy of another product.
    When an operator creates on the hub
      """
      apiVersion: policy.karmada.io/v1alpha1
      kind: ClusterPropagationPolicy
      metadata: {name: "greedy-${namespace}"}
      spec:
        resourceSelectors:
          - {apiVersion: v1, kind: Namespace, name: "${hubNamespace}"}
          - {apiVersion: compute.datumapis.com/v1alpha, kind: WorkloadDeployment, namespace: "${namespace}"}
        placement: {}
      """
    And Workload "web" is scaled to 2 and settles
    Then namespace "${hubNamespace}" in cell "dfw" still has "metadata.labels.pod-security\.kubernetes\.io/enforce" "baseline"
    And cell "ord" has nothing of the namespace

  Scenario: A rollout stops at a template that a cell refuses, the command names it, and an undo ends it
    Given a namespace of the hub that is a project
    And Workload "web" runs with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 2        |
    When the consumer patches workload "web" with {"spec":{"template":{"spec":{"runtime":{"class":"nowhere"}}}}}
    Then workload "web" has condition Degraded True because of "RuntimeClassNotServed", saying "DFW: RuntimeClassNotServed: Instance web-main-dfw-1 keeps its template"
    And workload "web" still has "status.availableReplicas" "4"
    When the consumer runs "kubectl compute tree web"
    Then the command has ended with exit code 0
    And the command prints "web-main-dfw-1"
    When the consumer runs "kubectl compute explain web"
    Then the command prints "RuntimeClassNotServed"
    When the consumer runs "kubectl compute rollout undo web"
    Then the command prints "web rolled back"
    And workload "web" has "status.rollout.phase" "Complete"
    And workload "web" has "status.availableReplicas" "4"

  Scenario: Only the cell of a Workload's city has the data that the Workload names
    Given a namespace of the hub that is a project
    And the consumer keeps
      | data                | key      | value             |
      | ConfigMap greetings | greeting | hello             |
      | Secret database     | password | a random password |
      | ConfigMap other     | greeting | good day          |
    When the consumer creates Workload "web" which names "ConfigMap greetings, Secret database" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then Workload "web" becomes available with 1 ready Instances
    And cell "dfw" keeps exactly "ConfigMap greetings, Secret database"
    And cell "ord" has nothing of the namespace
    And the data in cell "dfw" equals the project's data
    When the consumer changes "password" of "Secret database" 1 times, each is in cells "dfw" at most 30 seconds after
    And the consumer deletes workload "web"
    Then cell "dfw" has nothing of the namespace
    And the hub has nothing of the namespace

  @cells @counts
  Scenario: Several cells of a city divide the Instances
    Given the federation has cells "iad-1, iad-2"
    And a namespace of the hub that is a project
    When the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | IAD    | 4        |
    Then Workload "web" becomes available with 4 ready Instances
    And the project has exactly the instances "web-main-iad-0, web-main-iad-1, web-main-iad-2, web-main-iad-3"
    And cells "iad-1, iad-2" run 4 Instances, each at least 1, and none twice
    When Workload "web" is scaled to 2 and settles
    Then cells "iad-1, iad-2" run 2 Instances, each at least 1, and none twice
    And none of the Instances in cells "iad-1, iad-2" was replaced

  @cells @hostile @long
  Scenario: A consumer with every right in its own namespace
    Given the federation has cells "iad-1, iad-2"
    And a namespace of the hub that is a project
    And a second namespace of the hub that is a project, "other"
    Then a hostile consumer writes at random for 10 seconds beside project "${other}", seed 1

  @cells @hostile @long
  Scenario: An administrator of a cell, without Milo
    Given the federation has cells "iad-1, iad-2"
    And a namespace of the hub that is a project
    And a second namespace of the hub that is a project, "other"
    Then a hostile cell "iad-1" writes at random for 10 seconds beside project "${other}", seed 1

  @containers @sessions
  Scenario: A role in the namespace gives its user the log of an Instance
    Given cell "hou" runs containers
    And a namespace of the hub that is a project
    When the consumer creates Workload "web" of 1 in HOU with container {"args":["--log=200ms"]}
    Then Workload "web" becomes available with 1 ready Instances
    When the consumer runs "kubectl compute logs web-main-hou-0"
    Then the command prints "may not get instances/log"
    And the command has ended with exit code 1
    Given the consumer is allowed to get "instances.compute.datumapis.com/log" in the namespace
    When the consumer runs "kubectl compute logs web-main-hou-0 --tail=2" until it prints "line "
    # The Event follows the end of the session.
    Then the consumer runs "kubectl get events --field-selector=reason=InstanceSession" until it prints "of type Logs for Instance"
    When the consumer starts "kubectl compute ui"
    And the page follows the log of Instance "web-main-hou-0"
    Then the command prints 20 more lines of the log, each once and in order
