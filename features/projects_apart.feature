Feature: Projects do not see each other
  Two projects may use the same names. A project without Workloads needs no watches.

  @core @main
  Scenario: Equal names in two projects
    Given a namespace in project "north" and one of the same name in project "south"
    When in project "north" the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And in project "south" the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 2        |
    Then in project "north" Workload "web" becomes available with 1 ready Instances
    And in project "south" Workload "web" becomes available with 2 ready Instances
    And namespace "${hubNamespace of north}" on the hub has "metadata.labels['meta.datumapis.com/upstream-cluster-name']" "cluster-north"
    And namespace "${hubNamespace of south}" on the hub has "metadata.labels['meta.datumapis.com/upstream-cluster-name']" "cluster-south"
    When the consumer deletes workload "web" in project "north"
    Then project "north" has nothing of the namespace
    And in project "south" Workload "web" becomes available with 2 ready Instances

  Scenario: A consumer names the hub namespace of another project
    Given a namespace in project "north" and one of the same name in project "south"
    And in project "south" Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And "metadata.resourceVersion" of namespace "${hubNamespace of south}" on the hub is remembered as "NAMESPACE"
    And "metadata.uid" of workloaddeployment "${hubNamespace of south}/web-main-dfw" on the hub is remembered as "COPY"
    And "metadata.uid" of pod "${hubNamespace of south}/web-main-dfw-0" in cell "dfw" is remembered as "POD"
    When the consumer tries to patch workloaddeployment "web-main-dfw" with {"metadata":{"annotations":{"compute.datumapis.com/federation-namespace":"${hubNamespace of south}"}}}
    Then that is refused with "is created and kept by karmada-compute"
    # As if no webhook had reviewed it.
    When the add-on patches workloaddeployment "web-main-dfw" with {"metadata":{"annotations":{"compute.datumapis.com/federation-namespace":"${hubNamespace of south}"}}}
    Then workloaddeployment "web-main-dfw" has "metadata.annotations['compute.datumapis.com/federation-namespace']" "${hubNamespace}"
    When the add-on patches workloaddeployment "web-main-dfw" with {"metadata":{"annotations":{"compute.datumapis.com/federation-namespace":"${hubNamespace of south}"}}}
    And the consumer deletes workload "web"
    Then the project has nothing of the namespace
    And the hub has nothing of the namespace
    And namespace "${hubNamespace of south}" on the hub still has "metadata.resourceVersion" "${NAMESPACE}"
    And workloaddeployment "${hubNamespace of south}/web-main-dfw" on the hub still has "metadata.uid" "${COPY}"
    And pod "${hubNamespace of south}/web-main-dfw-0" in cell "dfw" still has "metadata.uid" "${POD}"

  Scenario: A project is watched only while it has a Workload
    Given a project of its own
    And instancetype "datumcloud-d1-standard-2" exists
    Then the add-on watches nothing in the project
    When the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then Workload "web" becomes available with 1 ready Instances
    And the add-on watches workloads in the project
