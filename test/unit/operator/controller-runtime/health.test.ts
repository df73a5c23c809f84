import t from 'tap'
import { findProblems } from '../../../../operator/src/controller-runtime/health.ts'

const now = 1_000_000
const controller = (overdue: number) => ({ name: 'shots', stuckFor: () => overdue })
const reflector = (silent: number) => ({ resource: { plural: 'screenshots' }, lastActiveAt: now - silent })
const cases = [
  { name: 'no problem while all are active', controllers: [controller(0)], reflectors: [reflector(170_000)], problems: [] },
  {
    name: 'a stuck worker',
    controllers: [controller(2_000), controller(0)],
    reflectors: [],
    problems: ['a worker of controller shots is stuck, 2 s overdue'],
  },
  {
    name: 'an inactive reflector',
    controllers: [],
    reflectors: [reflector(200_000)],
    problems: ['the reflector of screenshots has been inactive for 200 s'],
  },
]
for (const { name, problems, ...parts } of cases) {
  t.test(`findProblems finds ${name}`, async (t) => {
    t.strictSame(findProblems({ ...parts, now }), problems)
  })
}
