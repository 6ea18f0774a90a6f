Feature: Monitoring
  The alerts and dashboards of the chart use metrics and labels that exist. A real Prometheus scrapes the replicas and the agents, loads
  the alerts, and evaluates every query.

  @core
  Scenario: Every query of every alert and dashboard returns data
    Given a project of its own with quota for 1 Instances
    And Prometheus scrapes every replica and the agents of cells "dfw, ord"
    When the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 2        |
    And the project gets quota for 4 Instances
    Then Workload "web" becomes available with 2 ready Instances
    And no alert about a missing metric fires
    And every query of the alerts returns data, but for
      | metric                                      | reason                          |
      | karmada_compute_audit_faults                | it is there when there is one   |
      | karmada_compute_repair_errors_total           | it is there when a repair fails |
      | karmada_compute_session_streams_ended_total | sessions are off                |
      | karmada_compute_cluster_access              | it is there when a Cluster gives others more than they need |
    # A rate covers only changes after the first scrape of a series.
    When the consumer creates Workload "late" with
      | placement | cities | replicas |
      | main      | DFW    | 2        |
    Then Workload "late" becomes available with 2 ready Instances
    And every query of the dashboards returns data, but for
      | metric                            | reason                              |
      | karmada_compute_audit_faults      | it is there when there is one       |
      | karmada_compute_repairs_total      | it is there when there was a repair |
      | karmada_compute_repair_errors_total | it is there when a repair fails     |
