import t from 'tap'
import { RequestError } from '../../../api-gateway/console/src/api/client.ts'

t.test('problems of the API have the names of the fields of the form', async (t) => {
  const problem = (name: string) => ({
    path: `options.${name}`,
    code: 'too_big',
    message: `options.${name} must be at most 5: see options.`,
  })
  const one = new RequestError(400, {
    code: 'VALIDATION_ERROR',
    message: 'options.retries must be at most 5',
    details: [problem('retries')],
  })
  t.match(one.problems, [{ path: 'retries', message: 'retries must be at most 5: see options.' }])
  t.equal(one.message, 'retries must be at most 5: see options.')
  const two = new RequestError(400, {
    code: 'VALIDATION_ERROR',
    message: 'the request has 2 problems',
    details: [problem('a'), problem('b')],
  })
  t.equal(two.message, 'the request has 2 problems')
  t.strictSame(
    two.problems.map(({ path }) => path),
    ['a', 'b'],
  )
  t.strictSame(new RequestError(503, { code: 'X', message: 'y', details: { retry_after: 1 } }).problems, [])
})
