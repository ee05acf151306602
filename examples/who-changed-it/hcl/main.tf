# A depot that others change now and then.
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
  to = devicecloud_account.laboratory
  id = "1003"
}

resource "devicecloud_account" "laboratory" {
  name    = "Laboratory"
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
  associated_accounts = [devicecloud_account.depot-7.id]
  filter_criteria     = { alert_type__in = ["ethernet_wan_disconnected", "modem_wan_disconnected"] }
  http_destinations   = [devicecloud_alert_push_destination.pager.destination_config_id]
}

resource "devicecloud_account_authorization" "ada" {
  user    = "71"
  account = data.devicecloud_account.hq.id
  role    = "administrator"
}

resource "devicecloud_account_authorization" "ben" {
  user    = "72"
  account = devicecloud_account.depot-7.id
  role    = "read_only_user"
}
