Feature: A hub that is lost without a backup
  The cells keep what they run. A new hub in its place takes it over, and neither starts an Instance twice nor replaces one.

  @namespaces @serial @long
  Scenario: Without Milo, an operator lets the project take over what its cells run
    Given a namespace of the hub that is a project
    When the consumer creates Workload "web" with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 2        |
    Then Workload "web" becomes available with 4 ready Instances
    And pod "${hubNamespace}/web-main-dfw-0" in cell "dfw" exists
    And pod "${hubNamespace}/web-main-ord-1" in cell "ord" exists
    When the hub loses its storage, and an operator installs Karmada and the add-on again
    And an operator lists what the cells run for an earlier hub
    Then the commands print "can be adopted"
    And namespace "${namespace}" on the hub does not exist
    When an operator adopts what the cells run for an earlier hub
    Then the commands print "adopted: apply its Workloads web"
    When an operator gives the consumer their role in the namespace again
    And the consumer creates Workload "web" with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 2        |
    Then Workload "web" becomes available with 4 ready Instances
    And pod "${hubNamespace}/web-main-dfw-0" in cell "dfw" was not replaced
    And pod "${hubNamespace}/web-main-ord-1" in cell "ord" was not replaced
    And instance "web-main-dfw-0" in cell "dfw" exists
    When an operator lists what the cells run for an earlier hub
    Then the commands print "No cell that was read runs a deployment of an earlier hub"
    When the consumer deletes workload "web"
    Then cell "dfw" has nothing of the namespace
    And cell "ord" has nothing of the namespace

  @serial @long
  Scenario: With Milo, projects take over what their cells run by themselves
    Given a namespace in project "north"
    And Workload "web" runs with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 2        |
    And pod "${hubNamespace}/web-main-dfw-0" in cell "dfw" exists
    And pod "${hubNamespace}/web-main-ord-1" in cell "ord" exists
    When the hub loses its storage, and an operator installs Karmada and the add-on again
    # The marks of projects in use are lost, too. A change of the types lets the replicas visit all projects.
    And an operator creates on the hub
      """
      apiVersion: compute.datumapis.com/v1alpha
      kind: InstanceType
      metadata: {name: ${namespace}}
      spec:
        displayName: of this scenario
        resources: {cpu: 300m, memory: 64Mi}
      """
    Then workloaddeployment "${hubNamespace}/web-main-dfw" on the hub exists
    And Workload "web" becomes available with 4 ready Instances
    And pod "${hubNamespace}/web-main-dfw-0" in cell "dfw" was not replaced
    And pod "${hubNamespace}/web-main-ord-1" in cell "ord" was not replaced
    And an operator lists what the cells run for an earlier hub
    And the commands print "No cell that was read runs a deployment of an earlier hub"
