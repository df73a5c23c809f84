import t from 'tap'
import { OtlpEndpoint, OtlpHeaders } from '../../../../crds/src/runtime/otlp-settings.ts'

t.test('OtlpHeaders reads OpenTelemetry’s list of headers', async (t) => {
  t.strictSame(OtlpHeaders.parse(undefined), {})
  t.strictSame(OtlpHeaders.parse('Authorization=Basic%20YWJj=, x-team = shots ,'), { authorization: 'Basic YWJj=', 'x-team': 'shots' })
  for (const wrong of ['authorization', 'a b=c', 'a=%zz']) t.notOk(OtlpHeaders.safeParse(wrong).success, wrong)
})

t.test('OtlpEndpoint is a URL or undefined', async (t) => {
  t.equal(OtlpEndpoint.parse(''), undefined)
  t.equal(OtlpEndpoint.parse('http://collector:4318'), 'http://collector:4318')
  t.notOk(OtlpEndpoint.safeParse('collector:4318').success)
})
