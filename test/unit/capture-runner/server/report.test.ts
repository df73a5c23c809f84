import t from 'tap'
import { buildFailure } from '../../../../capture-runner/src/capture/outcome.ts'
import { CaptureError } from '../../../../capture-runner/src/runtime/errors.ts'
import { buildReport } from '../../../../capture-runner/src/server/report.ts'
import { at, NOON } from '../../../support/fakes/builders.ts'

t.test('buildReport tests the claim before it writes, and writes only its own fields', async (t) => {
  const outcome = buildFailure(new CaptureError('TIMEOUT', 'why'), { processingMilliseconds: 1, timings: {} }, NOON)
  const claim = { namespace: 'default', name: 'scr-1', attempt: 2, podUid: 'pod-uid' }
  const { contentType, body } = buildReport(claim, outcome, at(1))
  t.equal(contentType, 'application/json-patch+json')
  t.strictSame(body, [
    { op: 'test', path: '/status/runner/uid', value: 'pod-uid' },
    { op: 'test', path: '/status/attempt', value: 2 },
    { op: 'test', path: '/status/phase', value: 'Running' },
    { op: 'replace', path: '/status/phase', value: 'Failed' },
    { op: 'add', path: '/status/result', value: outcome.result },
    { op: 'add', path: '/status/conditions', value: outcome.conditions },
    { op: 'add', path: '/status/completionTime', value: at(1).toISOString() },
  ])
})
