# What a depot's routers and people are heard about, and where.
terraform {
  required_providers {
    devicecloud = {
      source = "trueup/devicecloud"
    }
  }
}

provider "devicecloud" {}

data "devicecloud_account" "hq" {
  name = "Headquarters"
}

import {
  to = devicecloud_account.depot-7
  id = "1002"
}

resource "devicecloud_account" "depot-7" {
  name    = "Depot 7"
  account = data.devicecloud_account.hq.id

  lifecycle {
    create_before_destroy = true
  }
}

import {
  to = devicecloud_alert_push_destination.pager
  id = "0e1b2c40-97c4-11f0-8a51-3d2c9b7f6e10"
}

resource "devicecloud_alert_push_destination" "pager" {
  name     = "On-call pager"
  endpoint = { url = "https://hooks.example.com/pager" }

  lifecycle {
    create_before_destroy = true
  }
}

import {
  to = devicecloud_alert_push_destination.tickets
  id = "0e1b2c41-97c4-11f0-8a51-3d2c9b7f6e10"
}

resource "devicecloud_alert_push_destination" "tickets" {
  name     = "Ticket desk"
  endpoint = { url = "https://hooks.example.com/tickets" }

  lifecycle {
    create_before_destroy = true
  }
}

import {
  to = devicecloud_alert_rule.wan-down
  id = "1a2c3d50-97c4-11f0-8a51-3d2c9b7f6e10"
}

resource "devicecloud_alert_rule" "wan-down" {
  associated_accounts = [devicecloud_account.depot-7.id]
  filter_criteria     = { alert_type__in = ["ethernet_wan_disconnected", "modem_wan_disconnected"] }
  http_destinations   = [devicecloud_alert_push_destination.pager.destination_config_id]
}

import {
  to = devicecloud_alert_rule.doors
  id = "1a2c3d51-97c4-11f0-8a51-3d2c9b7f6e10"
}

resource "devicecloud_alert_rule" "doors" {
  associated_accounts = [devicecloud_account.depot-7.id]
  filter_criteria     = { alert_type__in = ["sim_door_event"] }
  http_destinations   = [devicecloud_alert_push_destination.tickets.destination_config_id]
}
