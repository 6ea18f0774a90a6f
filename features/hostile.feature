@cells @hostile
Feature: Hostile parties
  A consumer writes random objects in its own project, or an administrator in a cell. Objects of other parties do not change, no process
  runs out of memory, and the party's own objects recover afterwards. `make hostile` runs longer.

  Background:
    Given the federation has cells "iad-1, iad-2"
    And project "south" may use IAD
    And a project of its own that may use IAD

  Scenario: A consumer with every right in its own project
    Then a hostile consumer writes at random for 10 seconds beside project "south", seed 1

  @long
  Scenario: An administrator of a cell
    Then a hostile cell "iad-1" writes at random for 10 seconds beside project "south", seed 1
