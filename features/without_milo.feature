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
    When an operator deletes namespace "${namespace}" on the hub
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
    When an operator tries to create an object on the hub
      """
      apiVersion: v1
      kind: Namespace
      metadata:
        name: ns-00000000-0000-4000-8000-000000000001
        labels: {compute.datumapis.com/project: "true"}
      """
    Then that is refused with "the hub namespaces of karmada-compute; choose another name"

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
    And the consumer runs "kubectl get events --field-selector=reason=InstanceSession"
    Then the command prints "a session of type Logs after"
