import t from 'tap'
import { notFound } from '../../../../api-gateway/src/common/errors.ts'
import { toApiError } from '../../../../api-gateway/src/store/kube-errors.ts'
import { KubeError } from '../../../../crds/client/kube-error.ts'

const refusal = (status: number, details?: unknown) => new KubeError({ status, reason: 'Whatever', message: 'secret words', details })

for (const status of [0, 429, 500, 503]) {
  t.test(`toApiError takes ${status} of the API server for a passing trouble`, async (t) => {
    const error = toApiError(refusal(status)) as Error
    t.match(error, { code: 'SERVICE_UNAVAILABLE' })
    t.notMatch(error.message, 'secret words')
    t.ok(error.cause)
  })
}

for (const status of [401, 403]) {
  t.test(`a creation does not return 500 when an API server that has just started returns ${status}`, async (t) => {
    t.match(toApiError(refusal(status)), { code: 'SERVICE_UNAVAILABLE' })
  })
}

t.test('toApiError names the fields that the API server refuses, in the words of the wire', async (t) => {
  const causes = [{ field: 'spec.options.imageQuality', message: 'internal' }, { field: 'metadata.name' }]
  t.match(toApiError(refusal(422, { causes })), { code: 'VALIDATION_ERROR', details: [{ path: 'options.image_quality', code: 'refused' }] })
  t.match(toApiError(refusal(422)), { code: 'VALIDATION_ERROR', details: [{ path: '' }] })
})

t.test('toApiError leaves bugs and its own errors as they are', async (t) => {
  for (const error of [refusal(404), new TypeError('x'), notFound('screenshot')]) t.equal(toApiError(error), error)
})
