Feature: Faults of any process
  Processes are killed, and Karmada and Kubernetes miss changes meanwhile. No running Instance is lost, no deleted object remains,
  and the project shows only what cells report. The letters refer to the table in docs/reliability.md.

  Background:
    Given a namespace in project "north"

  @serial @faults
  Scenario: A, C. Karmada and a garbage collector miss changes while they are down
    Given Workload "bound" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And Workload "gone" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And Workload "deleted" runs with
      | placement | cities | replicas |
      | main      | ORD    | 1        |
    # A: Karmada starts while it cannot find its cells, and loses the Works of objects that were deleted and created meanwhile.
    When process "karmada-controller-manager" is killed
    And the consumer deletes workload "deleted"
    And resourcebinding "deleted-main-ord-workloaddeployment" on the hub has "metadata.deletionTimestamp"
    And the consumer creates Workload "new" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And workloaddeployment "new-main-dfw" on the hub exists
    # C: bindings keep the owners of earlier copies, and are not garbage-collected.
    And process "hub-kube-controller-manager" is killed
    And an operator patches workloaddeployment "bound-main-dfw" on the hub with {"metadata":{"annotations":{"compute.datumapis.com/break-glass":"a scenario"}}}
    And an operator deletes workloaddeployment "bound-main-dfw" on the hub
    And an operator patches workloaddeployment "gone-main-dfw" on the hub with {"metadata":{"annotations":{"compute.datumapis.com/break-glass":"a scenario"}}}
    And an operator deletes workloaddeployment "gone-main-dfw" on the hub
    And workloaddeployment "bound-main-dfw" on the hub becomes another one
    And workloaddeployment "gone-main-dfw" on the hub becomes another one
    And the consumer deletes workload "gone"
    And process "karmada-aggregated-apiserver" is killed
    And process "karmada-controller-manager" is started again
    And 5 seconds pass
    And process "karmada-aggregated-apiserver" is started again
    Then cell "ord" has no workloaddeployments
    And Workload "new" becomes available with 1 ready Instances
    And Workload "bound" is scaled to 2 and settles
    And instance "bound-main-dfw-0" in cell "dfw" was not replaced
    And the project has exactly the workloads "bound, new"
    And cell "dfw" has exactly the workloaddeployments "bound-main-dfw, new-main-dfw"
    And cell "dfw" runs exactly the Pods "bound-main-dfw-0, bound-main-dfw-1, new-main-dfw-0"

  @serial
  Scenario: B. A garbage collector misses an Instance that is recreated under the same name
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 2        |
    And "metadata.uid" of pod "web-main-dfw-0" in cell "dfw" is remembered as "POD"
    When process "cell-dfw-kube-controller-manager" is killed
    And an operator deletes instance "web-main-dfw-0" in cell "dfw"
    Then instance "web-main-dfw-0" in cell "dfw" becomes another one
    And pod "web-main-dfw-0" in cell "dfw" has another "metadata.uid" than "${POD}"
    And instance "web-main-dfw-0" in cell "dfw" has current condition Ready True
    When process "cell-dfw-kube-controller-manager" is started again
    And Workload "web" is scaled to 3 and settles
    Then cell "dfw" runs exactly the Pods "web-main-dfw-0, web-main-dfw-1, web-main-dfw-2"

  @serial @faults
  Scenario: D, E. An unreachable cell reports nothing, and forced deletions are completed when it returns
    Given Workload "stays" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And Workload "goes" runs with
      | placement | cities | replicas |
      | main      | DFW    | 2        |
    And "metadata.annotations['work.karmada.io/name']" of workloaddeployment "goes-main-dfw" in cell "dfw" is remembered as "WORK"
    When cell "dfw" goes down
    Then every instance in the project has condition Ready Unknown because of "CellNotReady"
    And workload "stays" has "status.readyReplicas" "0"
    When the consumer deletes workload "goes"
    And work "karmada-es-dfw/${WORK}" on the hub has "metadata.deletionTimestamp"
    And an operator patches work "karmada-es-dfw/${WORK}" on the hub with [{"op":"remove","path":"/metadata/finalizers"}]
    And the project has exactly the workloads "stays"
    And cell "dfw" returns
    Then cell "dfw" has exactly the workloaddeployments "stays-main-dfw"
    And cell "dfw" runs exactly the Pods "stays-main-dfw-0"
    And Workload "stays" becomes available with 1 ready Instances
    And instance "stays-main-dfw-0" in cell "dfw" was not replaced

  @serial
  Scenario: R. The hub is down
    Given Workload "runs" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And "metadata.uid" of pod "runs-main-dfw-0" in cell "dfw" is remembered as "POD"
    When process "hub-kube-apiserver" is killed
    And an operator deletes pod "runs-main-dfw-0" in cell "dfw"
    And the consumer dry-runs the sample Workload
    Then that is not refused
    And pod "runs-main-dfw-0" in cell "dfw" has another "metadata.uid" than "${POD}"
    And instance "runs-main-dfw-0" in cell "dfw" has current condition Ready True
    When process "hub-kube-apiserver" is started again
    Then Workload "runs" is scaled to 2 within 60 seconds
    And instance "runs-main-dfw-0" in cell "dfw" was not replaced

  @serial
  Scenario: F. An agent that was killed continues
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When the agent of cell "dfw" is killed
    And the clock is started
    And the consumer creates Workload "api" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then Workload "api" becomes available with 1 ready Instances
    And at most 15 seconds have passed
    And instance "web-main-dfw-0" in cell "dfw" was not replaced

  @core @main
  Scenario: G. A deployment that its consumer deletes by mistake is recreated and keeps its Instances
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 2        |
    When an operator patches workloaddeployment "web-main-dfw" with {"metadata":{"annotations":{"compute.datumapis.com/break-glass":"a scenario"}}}
    And an operator deletes workloaddeployment "web-main-dfw"
    Then workloaddeployment "web-main-dfw" becomes another one
    And Workload "web" becomes available with 2 ready Instances
    And none of the Instances in cells "dfw" was replaced
    When Workload "web" is scaled to 3 and settles
    Then none of the Instances in cells "dfw" was replaced

  @counts @lostcell
  Scenario: A lost cell is reported within a minute, and brings back no earlier spec
    Given the federation has cells "iad-1, iad-2"
    And cell "iad-2" serves ZRH
    And project "north" may use IAD
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | IAD    | 1        |
    When the clock is started
    And cell "iad-1" goes down
    Then instance "web-main-iad-0" has condition Ready Unknown because of "CellNotReady"
    And workload "web" has "status.readyReplicas" "0"
    And at most 60 seconds have passed
    When the consumer patches workload "web" with {"spec":{"template":{"metadata":{"annotations":{"example.com/release":"2"}}}}}
    Then workloaddeployment "web-main-iad" on the hub has "spec.template.metadata.annotations['example.com/release']" "2"
    When cell "iad-1" returns
    Then workloaddeployment "web-main-iad" in cell "iad-1" has "spec.template.metadata.annotations['example.com/release']" "2"
    And workload "web" has "status.updatedReplicas" "1"
    And Workload "web" becomes available with 1 ready Instances
    And workloaddeployment "web-main-iad" on the hub still has "spec.template.metadata.annotations['example.com/release']" "2"
    And workload "web" still has "spec.template.metadata.annotations['example.com/release']" "2"

  @serial
  Scenario: L. A change of a project at Milo takes effect at once
    Given a project of its own
    And the consumer dry-runs the sample Workload
    And that is eventually not refused
    When the project is suspended
    Then that is within 5 seconds refused with "suspended"
    When the project is resumed
    Then that is within 5 seconds not refused
    When an operator deletes project "${project}" in Milo
    And project "${project}" in Milo is gone
    And the project is recreated
    Then that is within 5 seconds not refused

  # Several planes at once, for a short time. `make soak FAULTS=rollout` kills each alone for a minute.
  @serial @counts @rollingfaults @long
  Scenario: Processes are killed during a rollout with a disruption budget
    When Workload "rolling" is rolled out while processes "hub-kube-apiserver, karmada-controller-manager, replica/0, agent/dfw" are down for 3 seconds
    Then no voluntary disruption has missed the budget, and each Instance was replaced once

  @serial @soak
  Scenario: A soak
    Given a namespace in project "south"
    When a soak of 40 seconds with 12 Workloads, seed 13 and a fault every 6 seconds
    Then project, hub and cells agree
