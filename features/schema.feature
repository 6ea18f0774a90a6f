Feature: Schema
  The API server itself refuses values that are never valid, with the path of the field.

  Background:
    Given a namespace in project "north"

  Scenario Outline: <what>
    When the consumer tries to create the sample Workload with <patch>
    Then that is refused with "<message>"

    Examples:
      | what                          | patch                                                                                                                                                                                   | message                                          |
      | no placement                  | {"spec":{"placements":[]}}                                                                                                                                                              | spec.placements                                  |
      | two placements of one name    | {"spec":{"placements":[{"name":"a","cityCodes":["DFW"],"scaleSettings":{"minReplicas":1}},{"name":"a","cityCodes":["ORD"],"scaleSettings":{"minReplicas":1}}]}}                         | spec.placements[1]: Duplicate value              |
      | a placement without a city    | {"spec":{"placements":[{"name":"a","cityCodes":[],"scaleSettings":{"minReplicas":1}}]}}                                                                                                 | spec.placements[0].cityCodes                     |
      | a city twice                  | {"spec":{"placements":[{"name":"a","cityCodes":["DFW","dfw"],"scaleSettings":{"minReplicas":1}}]}}                                                                                      | city codes must be unique without regard to case |
      | a placement name in capitals  | {"spec":{"placements":[{"name":"A","cityCodes":["DFW"],"scaleSettings":{"minReplicas":1}}]}}                                                                                            | spec.placements[0].name                          |
      | a negative number of replicas | {"spec":{"placements":[{"name":"a","cityCodes":["DFW"],"scaleSettings":{"minReplicas":-1}}]}}                                                                                           | spec.placements[0].scaleSettings.minReplicas     |
      | too many replicas             | {"spec":{"placements":[{"name":"a","cityCodes":["DFW"],"scaleSettings":{"minReplicas":5001}}]}}                                                                                         | spec.placements[0].scaleSettings.minReplicas     |
      | max below min                 | {"spec":{"placements":[{"name":"a","cityCodes":["DFW"],"scaleSettings":{"minReplicas":3,"maxReplicas":2,"metrics":[{"resource":{"name":"cpu","target":{"averageUtilization":50}}}]}}]}} | must be at least minReplicas                     |
      | max without metrics           | {"spec":{"placements":[{"name":"a","cityCodes":["DFW"],"scaleSettings":{"minReplicas":3,"maxReplicas":4}}]}}                                                                            | needs metrics to scale by                        |
      | two targets                   | {"spec":{"placements":[{"name":"a","cityCodes":["DFW"],"scaleSettings":{"minReplicas":1,"metrics":[{"resource":{"name":"cpu","target":{"averageUtilization":50,"value":"1"}}}]}}]}}     | exactly one of the fields                        |
      | a target that is not above 0  | {"spec":{"placements":[{"name":"a","cityCodes":["DFW"],"scaleSettings":{"minReplicas":1,"metrics":[{"resource":{"name":"cpu","target":{"averageValue":"0m"}}}]}}]}}                     | target.averageValue                              |
      | a target that is not above 0  | {"spec":{"placements":[{"name":"a","cityCodes":["DFW"],"scaleSettings":{"minReplicas":1,"metrics":[{"resource":{"name":"cpu","target":{"averageValue":-1}}}]}}]}}                       | must be positive                                 |
      | an unknown management policy  | {"spec":{"placements":[{"name":"a","cityCodes":["DFW"],"scaleSettings":{"minReplicas":1,"instanceManagementPolicy":"Random"}}]}}                                                        | Unsupported value: \"Random\"                    |
      | no runtime                    | {"spec":{"template":{"spec":{"runtime":{"sandbox":null}}}}}                                                                                                                             | exactly one of the fields                        |
      | two runtimes                  | {"spec":{"template":{"spec":{"runtime":{"virtualMachine":{"volumeAttachments":[{"name":"boot"}]}}}}}}                                                                                   | exactly one of the fields                        |
      | no container                  | {"spec":{"template":{"spec":{"runtime":{"sandbox":{"containers":[]}}}}}}                                                                                                                | spec.template.spec.runtime.sandbox.containers    |
      | two containers of one name    | {"spec":{"template":{"spec":{"runtime":{"sandbox":{"containers":[{"name":"a","image":"x"},{"name":"a","image":"y"}]}}}}}}                                                               | containers[1]: Duplicate value                   |
      | no network interface          | {"spec":{"template":{"spec":{"networkInterfaces":[]}}}}                                                                                                                                 | spec.template.spec.networkInterfaces             |
      | a volume from two sources     | {"spec":{"template":{"spec":{"volumes":[{"name":"v","configMap":{"name":"c"},"secret":{"secretName":"s"}}]}}}}                                                                          | exactly one of the fields                        |
      | a port out of range           | {"spec":{"template":{"spec":{"runtime":{"sandbox":{"containers":[{"name":"a","image":"x","ports":[{"name":"p","port":70000}]}]}}}}}}                                                    | ports[0].port                                    |
      | a name that is no DNS label   | {"metadata":{"name":"a.b"}}                                                                                                                                                             | must be a DNS label                              |

  @core @main
  Scenario: Valid values are accepted, and nothing is added to lists
    When the consumer tries to create the sample Workload with {"spec":{"placements":[{"name":"a","cityCodes":["DFW"],"scaleSettings":{"minReplicas":1,"maxReplicas":2,"metrics":[{"resource":{"name":"cpu","target":{"averageValue":"500m"}}}]}}],"template":{"spec":{"runtime":{"sandbox":{"containers":[{"name":"a","image":"docker.io/library/nginx:1.27","ports":[{"name":"http","port":80}]}]}}}}}}
    Then that is not refused
    And workload "web" in the project has
      | spec.placements[?(@.name=='a')].scaleSettings             | {"maxReplicas":2,"metrics":[{"resource":{"name":"cpu","target":{"averageValue":"500m"}}}],"minReplicas":1} |
      | spec.template.spec.runtime.sandbox.containers[0].ports[0] | {"name":"http","port":80}                                                                                  |
