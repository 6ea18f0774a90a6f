Feature: Least privilege
  Each process of the add-on has only the permissions that it needs. An agent has none outside of its cell.

  Scenario Outline: <user> and <verb> <resource> in <plane>
    Then in plane "<plane>" user "<user>" <may> <verb> "<resource>"

    Examples: what a cell's agent may do
      | plane         | user                                                              | may     | verb   | resource                                         |
      | cell/dfw      | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may     | create | pods                                             |
      | cell/dfw      | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may     | create | pods/eviction                                    |
      | cell/dfw      | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may not | get    | nodes                                            |
      | cell/dfw      | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may not | patch  | nodes                                            |
      | cell/dfw      | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may not | patch  | poddisruptionbudgets.policy/status               |
      | cell/dfw      | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may     | patch  | workloaddeployments.compute.datumapis.com/status |
      | cell/dfw      | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may not | patch  | workloaddeployments.compute.datumapis.com        |
      | cell/dfw      | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may     | create | services                                         |
      | cell/dfw      | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may not | update | services                                         |
      | cell/dfw      | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may not | patch  | services/status                                  |
      | cell/dfw      | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may not | create | endpointslices.discovery.k8s.io                  |
      | cell/dfw      | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may     | list   | secrets                                          |
      | cell/dfw      | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may not | get    | secrets                                          |
      | cell/dfw      | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may not | create | secrets                                          |
      | cell/dfw      | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may not | patch  | configmaps                                       |
      | cell/dfw      | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may not | create | namespaces                                       |
      | cell/dfw      | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may     | create | events                                           |
      | cell/dfw      | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may     | list   | events                                           |
      | cell/dfw      | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may not | watch  | events                                           |
      | hub           | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may not | get    | workloaddeployments.compute.datumapis.com        |
      | hub           | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may not | list   | namespaces                                       |
      | hub           | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may not | list   | secrets                                          |
      | project/north | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may not | list   | secrets                                          |
      | milo          | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may not | list   | projects.resourcemanager.miloapis.com            |
      | project/north | system:serviceaccount:karmada-compute-system:karmada-compute-cell | may not | get    | workloads.compute.datumapis.com                  |

    Examples: what the hub's controllers may do
      | plane         | user                                                 | may     | verb   | resource                                         |
      | hub           | system:serviceaccount:karmada-system:karmada-compute | may     | create | workloaddeployments.compute.datumapis.com        |
      | hub           | system:serviceaccount:karmada-system:karmada-compute | may not | patch  | workloaddeployments.compute.datumapis.com/status |
      | hub           | system:serviceaccount:karmada-system:karmada-compute | may not | get    | secrets                                          |
      | hub           | system:serviceaccount:karmada-system:karmada-compute | may not | list   | secrets                                          |
      | hub           | system:serviceaccount:karmada-system:karmada-compute | may not | watch  | configmaps                                       |
      | hub           | system:serviceaccount:karmada-system:karmada-compute | may not | patch  | secrets                                          |
      | hub           | system:serviceaccount:karmada-system:karmada-compute | may not | update | secrets                                          |
      | hub           | system:serviceaccount:karmada-system:karmada-compute | may not | patch  | serviceaccounts                                  |
      | hub           | system:serviceaccount:karmada-system:karmada-compute | may not | create | clusterroles.rbac.authorization.k8s.io           |
      | hub           | system:serviceaccount:karmada-system:karmada-compute | may not | patch  | clusters.cluster.karmada.io                      |
      | project/north | karmada-compute                                      | may     | patch  | workloads.compute.datumapis.com/status           |
      | project/north | karmada-compute                                      | may not | delete | workloads.compute.datumapis.com                  |
      | project/north | karmada-compute                                      | may     | get    | secrets                                          |
      | project/north | karmada-compute                                      | may not | create | secrets                                          |
      | project/north | karmada-compute                                      | may not | patch  | configmaps                                       |
      | project/north | karmada-compute                                      | may     | create | events                                           |
      | project/north | karmada-compute                                      | may not | create | events.events.k8s.io                             |
      | cell/dfw      | system:serviceaccount:karmada-system:karmada-compute | may not | list   | secrets                                          |
      | cell/dfw      | system:serviceaccount:karmada-system:karmada-compute | may not | list   | pods                                             |

  @core @main
  Scenario: The add-on's credential for the hub in the wrong hands
    Given a namespace in project "north"
    And the consumer is allowed to do everything to "secrets" in the namespace
    And the consumer keeps
      | data            | key      | value             |
      | Secret database | password | a random password |
    And Workload "web" which names "Secret database" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then a user with the add-on's credential for the hub is refused to
      | verb   | object                                                                                                                                                                                                                           | because                  |
      | get    | {apiVersion: v1, kind: Secret, metadata: {namespace: karmada-cluster, name: dfw}}                                                                                                                                                |                          |
      | list   | {apiVersion: v1, kind: Secret, metadata: {namespace: karmada-cluster}}                                                                                                                                                           |                          |
      | list   | {apiVersion: v1, kind: Secret}                                                                                                                                                                                                   |                          |
      | create | {apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {namespace: karmada-cluster, name: karmada-compute}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: karmada-compute-namespace}} | in hub namespaces        |
      | patch  | {apiVersion: v1, kind: Namespace, metadata: {name: karmada-cluster, labels: {meta.datumapis.com/upstream-cluster-name: cluster-north}}}                                                                                          | hub namespaces           |
      | delete | {apiVersion: v1, kind: Namespace, metadata: {name: karmada-cluster}}                                                                                                                                                             | hub namespaces           |
      | create | {apiVersion: work.karmada.io/v1alpha1, kind: Work, metadata: {namespace: karmada-es-dfw, name: mine}, spec: {workload: {manifests: []}}}                                                                                         | Works with its label     |
      | create | {apiVersion: work.karmada.io/v1alpha1, kind: Work, metadata: {namespace: default, name: mine, labels: {compute.datumapis.com/inventory: cell}}, spec: {workload: {manifests: []}}}                                               | execution namespaces     |
      | create | {apiVersion: work.karmada.io/v1alpha1, kind: Work, metadata: {namespace: karmada-es-dfw, name: mine, labels: {compute.datumapis.com/inventory: cell}}, spec: {workload: {manifests: [{apiVersion: v1, kind: Pod, metadata: {namespace: kube-system, name: mine}}]}}} | Works with its label |
    And a user with the add-on's credential for the hub is allowed to
      | verb | object                                                                                |
      | get  | {apiVersion: v1, kind: Secret, metadata: {namespace: "${hubNamespace}", name: database}} |
      | list | {apiVersion: v1, kind: Secret, metadata: {namespace: "${hubNamespace}"}}                 |
