// Read by the compiler alone: the words of the vocabulary that no kind has used yet, in a made-up one.
import type { TerraformStack } from '#cdk';
import { lookupClass, resourceClass } from '../../../../src/constructs/terraform/classes.js';
import { geofences } from '../../../support/fifth-kind.js';

class Geofence extends resourceClass(geofences) {}
class DataGeofence extends lookupClass(geofences) {}

export function declare(stack: TerraformStack): readonly unknown[] {
  const yard = new Geofence(stack, 'yard', {
    name: 'Yard',
    radius: 250,
    latitude: 1.5,
    active: true,
    mode: 'enter',
    points: ['1,1'],
    watchers: ['12'],
    labels: { team: 'north' },
    hook: { url: 'https://x.example.com/', tokenWo: '${var.token}', tokenWoVersion: 1 },
  });
  new Geofence(stack, 'next', {
    name: yard.name,
    radius: yard.radius,
    active: yard.active,
    points: yard.points,
    labels: yard.labels,
    hook: yard.interpolationForAttribute('hook'),
  });
  // @ts-expect-error a wrong choice
  new Geofence(stack, 'g1', { name: 'Yard', mode: 'entre' });
  // @ts-expect-error a text where a number is expected
  new Geofence(stack, 'g2', { name: 'Yard', radius: '250' });
  // @ts-expect-error a number where a text is expected
  new Geofence(stack, 'g3', { name: 'Yard', labels: { team: 7 } });
  // @ts-expect-error a list where a map is expected
  new Geofence(stack, 'g4', { name: 'Yard', labels: ['north'] });
  const found = new DataGeofence(stack, 'found', { radius: 250, id: '7' });
  const numbers: readonly number[] = [yard.latitude, found.radius, yard.hook.tokenWoVersion];
  const map: { [key: string]: string } = yard.labels;
  return [numbers, map, yard.hook.url];
}
