Feature: Run Instances in a cell
  A cell runs the Instances of a deployment in order, and every Instance is a running Pod.

  Background:
    Given a namespace in project "north"

  Scenario: Instances start in order, each when the one before is Ready
    When the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 3        |
    Then Workload "web" becomes available with 3 ready Instances
    And cell "dfw" runs exactly the Pods "web-main-dfw-0, web-main-dfw-1, web-main-dfw-2"
    And in cell "dfw" each Instance was made after the one before was Ready
    And no Instance in cell "dfw" has a scheduling gate

  Scenario: Scaling goes up and down at the high end
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 2        |
    When the consumer changes Workload "web" to
      | placement | cities | replicas |
      | main      | DFW    | 4        |
    Then Workload "web" becomes available with 4 ready Instances
    And Instance "web-main-dfw-0" in cell "dfw" was not replaced
    When the consumer changes Workload "web" to
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then cell "dfw" runs exactly the Pods "web-main-dfw-0"
    And the project has exactly the Instances "web-main-dfw-0"
    And Instance "web-main-dfw-0" in cell "dfw" was not replaced

  Scenario: A changed template rolls from the highest index down
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 3        |
    When the consumer changes the image of Workload "web" to "docker.io/library/nginx:1.28"
    Then all 3 Pods of "web-main-dfw" in cell "dfw" run "docker.io/library/nginx:1.28"
    And in cell "dfw" the Instances were replaced from the highest index down, each when the one above was Ready
    And Workload "web" becomes available with 3 ready Instances
    And every Instance in the project shows image "docker.io/library/nginx:1.28"

  Scenario: A Pod that is lost comes back
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When the Pod "web-main-dfw-0" in cell "dfw" is deleted by hand
    Then the Pod "web-main-dfw-0" in cell "dfw" is a new one and runs
    And Workload "web" becomes available with 1 ready Instances

  Scenario: A configured quota holds an Instance until it is granted
    When a deployment "held" with a quota that grants nothing is put into cell "dfw"
    Then Instance "held-0" in cell "dfw" is not Ready because of "SchedulingGatesPresent"
    And cell "dfw" runs exactly the Pods ""
    When the quota of deployment "held" in cell "dfw" grants "held-0"
    Then cell "dfw" runs exactly the Pods "held-0"
