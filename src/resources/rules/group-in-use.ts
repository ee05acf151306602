// The rule against deleting a group to which routers or alert rules still refer.
import { alertRules } from '../alert-rules.js';
import { groups } from '../groups.js';
import { routers } from '../routers.js';
import { inUseRule } from './in-use.js';

export const groupInUse = inUseRule({
  rule: 'group-in-use',
  kind: groups,
  needs: [alertRules.name],
  holders: [[alertRules.name, 'associated_groups']],
  beyond: [[routers.name, 'group']],
  refusing: [],
  hints: { [routers.name]: 'a router leaves its group only for another one' },
});
