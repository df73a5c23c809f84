import t from 'tap'
import {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNotFound,
  isTransient,
  isUnreachable,
  KubeError,
} from '../../../../crds/client/kube-error.ts'
import { applyPatch, jsonPatch, mergePatch, pointer } from '../../../../crds/client/patch.ts'

t.test('mergePatch merges the preconditions with the metadata of the body', async (t) => {
  const body = { metadata: { labels: { a: 'b' } }, status: { phase: 'Running' } }
  t.strictSame(mergePatch(body, { resourceVersion: '7', uid: 'u' }), {
    contentType: 'application/merge-patch+json',
    body: { metadata: { labels: { a: 'b' }, resourceVersion: '7', uid: 'u' }, status: { phase: 'Running' } },
  })
  t.strictSame(mergePatch(body, { resourceVersion: undefined }).body, body)
})

t.test('jsonPatch puts the tests before the changes', async (t) => {
  const patch = jsonPatch([{ op: 'replace', path: '/status/phase', value: 'Completed' }], { '/status/attempt': 2 })
  t.strictSame(patch, {
    contentType: 'application/json-patch+json',
    body: [
      { op: 'test', path: '/status/attempt', value: 2 },
      { op: 'replace', path: '/status/phase', value: 'Completed' },
    ],
  })
})

t.test('applyPatch names its field manager', async (t) => {
  const object = { metadata: { name: 'a' } }
  t.strictSame(applyPatch(object, { fieldManager: 'operator' }), {
    contentType: 'application/apply-patch+yaml',
    body: object,
    query: { fieldManager: 'operator', force: 'true' },
  })
})

t.test('pointer escapes special characters in segments', async (t) => {
  t.equal(pointer('metadata', 'labels', 'tintype.dev/hash~1', 0), '/metadata/labels/tintype.dev~1hash~01/0')
})

const error = (status: number, reason = 'Any') => new KubeError({ status, reason, message: 'refused' })
const cases = [
  { name: 'a conflict', error: error(409, 'Conflict'), is: ['isConflict'] },
  { name: 'a taken name', error: error(409, 'AlreadyExists'), is: ['isAlreadyExists'] },
  { name: 'a missing object', error: error(404), is: ['isNotFound'] },
  { name: 'an expired version', error: error(410), is: ['isGone'] },
  { name: 'an invalid object', error: error(422), is: ['isInvalid'] },
  { name: 'a forbidden call', error: error(403), is: ['isForbidden'] },
  { name: 'no answer', error: error(0), is: ['isUnreachable', 'isTransient'] },
  { name: 'an overloaded server', error: error(429), is: ['isTransient'] },
  { name: 'a failing server', error: error(503), is: ['isTransient'] },
  { name: 'an error of another kind', error: new Error('409'), is: [] },
]
const predicates = { isAlreadyExists, isConflict, isForbidden, isGone, isInvalid, isNotFound, isTransient, isUnreachable }
for (const { name, error, is } of cases) {
  t.test(`errors of the API server are distinguished: ${name}`, async (t) => {
    const holding = Object.entries(predicates).filter(([, predicate]) => predicate(error))
    t.strictSame(holding.map(([name]) => name).sort(), [...is].sort())
  })
}
