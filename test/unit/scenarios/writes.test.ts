import t from 'tap'
import { parseWrites, writesBetween } from '../../scenarios/plane/stage/writes.ts'

const line = (verb: string, resource: string, code: string, count: number, subresource = '') =>
  `apiserver_request_total{code="${code}",component="apiserver",dry_run="",group="tintype.dev",resource="${resource}",scope="resource",subresource="${subresource}",verb="${verb}",version="v1alpha1"} ${count}`

t.test('parseWrites sums the executed writes by resource', async (t) => {
  const text = [
    '# HELP apiserver_request_total Counter of requests',
    line('POST', 'screenshots', '201', 3),
    line('PATCH', 'screenshots', '200', 2, 'status'),
    line('PUT', 'accountusages', '200', 1, 'status'),
    line('PUT', 'accountusages', '409', 7, 'status'),
    line('LIST', 'screenshots', '200', 9),
    'apiserver_request_terminations_total{code="500",verb="POST",resource="screenshots"} 4',
  ].join('\n')
  t.strictSame(
    parseWrites(text),
    new Map([
      ['screenshots', 5],
      ['accountusages', 1],
    ]),
  )
})

t.test('writesBetween lists only resources that were written', async (t) => {
  const before = new Map([
    ['screenshots', 5],
    ['leases', 2],
  ])
  const after = new Map([
    ['screenshots', 5],
    ['leases', 3],
    ['events', 1],
  ])
  t.strictSame(
    writesBetween(before, after),
    new Map([
      ['leases', 1],
      ['events', 1],
    ]),
  )
})
