# Thirty objects, some of which exist already: those have import blocks.
terraform {
  required_providers {
    devicecloud = {
      source = "trueup/devicecloud"
    }
  }
}

provider "devicecloud" {}

variable "pager_secret" {
  type      = string
  sensitive = true
  ephemeral = true
}

variable "hooks" {
  type    = string
  default = "https://hooks.example.com"
}

data "devicecloud_account" "hq" {
  name = "Headquarters"
}

# The tree: regions below headquarters, sites below their region. `North region` exists already.

resource "devicecloud_account" "region" {
  for_each = { north = "North region", south = "South region", coast = "Coast region" }
  name     = each.value
  account  = data.devicecloud_account.hq.id

  lifecycle {
    create_before_destroy = true
  }
}

import {
  to = devicecloud_account.region["north"]
  id = "1002"
}

resource "devicecloud_account" "site" {
  for_each = {
    depot-7    = { name = "Depot 7", region = "north" }
    depot-8    = { name = "Depot 8", region = "north" }
    clinic-2   = { name = "Clinic 2", region = "south" }
    plant-1    = { name = "Plant 1", region = "south" }
    terminal-3 = { name = "Terminal 3", region = "coast" }
  }
  name    = each.value.name
  account = devicecloud_account.region[each.value.region].id

  lifecycle {
    create_before_destroy = true
  }
}

# Who is told. `Ticket desk` exists already.

resource "devicecloud_alert_push_destination" "pager" {
  name           = "On-call pager"
  enabled        = true
  endpoint       = { url = "${var.hooks}/pager" }
  authentication = { secret_wo = var.pager_secret, secret_wo_version = 1 }

  lifecycle {
    create_before_destroy = true
  }
}

resource "devicecloud_alert_push_destination" "board" {
  name     = "Operations board"
  enabled  = true
  endpoint = { url = "${var.hooks}/board" }

  lifecycle {
    create_before_destroy = true
  }
}

resource "devicecloud_alert_push_destination" "tickets" {
  name     = "Ticket desk"
  enabled  = true
  endpoint = { url = "${var.hooks}/tickets" }

  lifecycle {
    create_before_destroy = true
  }
}

import {
  to = devicecloud_alert_push_destination.tickets
  id = "0e1b2c40-97c4-11f0-8a51-3d2c9b7f6e10"
}

resource "devicecloud_alert_push_destination" "night-shift" {
  name     = "Night shift"
  enabled  = false # not yet staffed
  endpoint = { url = "${var.hooks}/night" }

  lifecycle {
    create_before_destroy = true
  }
}

# What is told, of which accounts, to whom.

resource "devicecloud_alert_rule" "wan-down" {
  for_each            = devicecloud_account.region
  associated_accounts = [each.value.id]
  filter_criteria     = { alert_type__in = ["ethernet_wan_disconnected", "modem_wan_disconnected", "wwan_network_unavailable"] }
  http_destinations = [
    devicecloud_alert_push_destination.pager.destination_config_id,
    devicecloud_alert_push_destination.board.destination_config_id,
  ]

  lifecycle {
    prevent_destroy = true
  }
}

resource "devicecloud_alert_rule" "wan-up" {
  for_each            = devicecloud_account.region
  associated_accounts = [each.value.id]
  filter_criteria     = { alert_type__in = ["ethernet_wan_connected", "modem_wan_connected"] }
  http_destinations   = [devicecloud_alert_push_destination.board.destination_config_id]
}

# Exists already with exactly this content.
resource "devicecloud_alert_rule" "tunnels" {
  associated_accounts = [data.devicecloud_account.hq.id]
  filter_criteria     = { alert_type__in = ["ipsec_tunnel_down", "ipsec_tunnel_up"] }
  http_destinations   = [devicecloud_alert_push_destination.tickets.destination_config_id]
}

import {
  to = devicecloud_alert_rule.tunnels
  id = "1a2c3d50-97c4-11f0-8a51-3d2c9b7f6e10"
}

resource "devicecloud_alert_rule" "overload" {
  associated_accounts = [data.devicecloud_account.hq.id]
  filter_criteria     = { alert_type__in = ["cpu_utilization", "memory_utilization", "sustained_system_overload"] }
  http_destinations   = [devicecloud_alert_push_destination.tickets.destination_config_id]
  schedule            = "daily"
}

resource "devicecloud_alert_rule" "heat" {
  associated_accounts = [devicecloud_account.site["plant-1"].id]
  filter_criteria     = { alert_type__in = ["thermal_exceeds_limit"] }
  http_destinations   = [devicecloud_alert_push_destination.pager.destination_config_id]
}

resource "devicecloud_alert_rule" "data-cap" {
  associated_accounts = [data.devicecloud_account.hq.id]
  filter_criteria     = { alert_type__in = ["data_cap_threshold"] }
  http_destinations   = [devicecloud_alert_push_destination.tickets.destination_config_id]
  settings            = jsonencode({ data_cap_threshold = { percent = 80 } })
}

resource "devicecloud_alert_rule" "intrusion" {
  associated_accounts = [devicecloud_account.site["depot-7"].id, devicecloud_account.site["depot-8"].id]
  filter_criteria     = { alert_type__in = ["sim_door_event", "geofence_proximity_change"] }
  http_destinations = [
    devicecloud_alert_push_destination.pager.destination_config_id,
    devicecloud_alert_push_destination.night-shift.destination_config_id,
  ]
}

resource "devicecloud_alert_rule" "locked-out" {
  associated_accounts = [data.devicecloud_account.hq.id]
  filter_criteria     = { alert_type__in = ["account_locked"] }
  http_destinations   = [devicecloud_alert_push_destination.tickets.destination_config_id]
}

# Roles of users. The API neither creates nor deletes authorizations: these exist and are adopted by user and account.

resource "devicecloud_account_authorization" "everywhere" {
  for_each = { ada = ["71", "administrator"], ben = ["72", "administrator"], chloe = ["73", "read_only_user"] }
  user     = each.value[0]
  account  = data.devicecloud_account.hq.id
  role     = each.value[1]
}

resource "devicecloud_account_authorization" "north" {
  for_each = {
    dana   = ["74", "full_access_user"]
    emil   = ["75", "read_only_user"] # has full access today
    fatima = ["76", "read_only_user"]
  }
  user    = each.value[0]
  account = devicecloud_account.region["north"].id
  role    = each.value[1]
}
