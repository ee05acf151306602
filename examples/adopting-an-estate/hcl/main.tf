# What others made, bound by import blocks, as `trueup export --format hcl` wrote it; only the names were chosen by hand.
terraform {
  required_providers {
    devicecloud = {
      source = "trueup/devicecloud"
    }
  }
}

provider "devicecloud" {}

import {
  to = devicecloud_account.headquarters
  id = "1001"
}

resource "devicecloud_account" "headquarters" {
  name = "Headquarters"

  lifecycle {
    create_before_destroy = true
  }
}

import {
  to = devicecloud_account.north-region
  id = "1002"
}

resource "devicecloud_account" "north-region" {
  name    = "North region"
  account = devicecloud_account.headquarters.id

  lifecycle {
    create_before_destroy = true
  }
}

import {
  to = devicecloud_account.depot-7
  id = "1003"
}

resource "devicecloud_account" "depot-7" {
  name    = "Depot 7"
  account = devicecloud_account.north-region.id

  lifecycle {
    create_before_destroy = true
  }
}

import {
  to = devicecloud_alert_push_destination.on-call-pager
  id = "0e1b2c40-97c4-11f0-8a51-3d2c9b7f6e10"
}

resource "devicecloud_alert_push_destination" "on-call-pager" {
  # authentication.secret reads back masked and is left out
  name     = "On-call pager"
  enabled  = true
  endpoint = { url = "https://hooks.example.com/pager" }

  lifecycle {
    create_before_destroy = true
  }
}

import {
  to = devicecloud_alert_rule.wan-down
  id = "1a2c3d50-97c4-11f0-8a51-3d2c9b7f6e10"
}

resource "devicecloud_alert_rule" "wan-down" {
  associated_accounts = [devicecloud_account.north-region.id]
  filter_criteria     = { alert_type__in = ["ethernet_wan_disconnected", "modem_wan_disconnected"] }
  http_destinations   = [devicecloud_alert_push_destination.on-call-pager.destination_config_id]
}

import {
  to = devicecloud_alert_rule.depot-doors
  id = "1a2c3d51-97c4-11f0-8a51-3d2c9b7f6e10"
}

resource "devicecloud_alert_rule" "depot-doors" {
  schedule            = "daily"
  associated_accounts = [devicecloud_account.depot-7.id]
  filter_criteria     = { alert_type__in = ["sim_door_event"] }
  http_destinations   = [devicecloud_alert_push_destination.on-call-pager.destination_config_id]
}

import {
  to = devicecloud_account_authorization.ada-everywhere
  id = "9001"
}

resource "devicecloud_account_authorization" "ada-everywhere" {
  user    = "71"
  account = devicecloud_account.headquarters.id
  role    = "administrator"
}

import {
  to = devicecloud_account_authorization.ben-north
  id = "9002"
}

resource "devicecloud_account_authorization" "ben-north" {
  user    = "72"
  account = devicecloud_account.north-region.id
  role    = "full_access_user"
}
