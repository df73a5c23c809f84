import t from 'tap'
import { poolOf } from '../../../../crds/src/identifiers/pool-of.ts'

t.test('poolOf prefers the pool of the spec, then that of videos, then that of the plan', async (t) => {
  t.equal(poolOf({}), 'default')
  t.equal(poolOf({}, 'large'), 'large')
  t.equal(poolOf({ options: { format: 'mp4' } }, 'large'), 'video')
  t.equal(poolOf({ options: { format: 'mp4' }, poolName: 'mine' }, 'large'), 'mine')
})
