import t from 'tap'
import type { Secret } from '../../../../crds/client/core-resources.ts'
import { PRIVATE_OPTIONS_TYPE, readPrivateSecret } from '../../../../operator/src/options/private-secret.ts'

const aSecret = (text: string, type = PRIVATE_OPTIONS_TYPE, key = 'options.json'): Secret =>
  ({ metadata: { name: 'sign-in' }, type, data: { [key]: Buffer.from(text).toString('base64') } }) as unknown as Secret
const read = (secret: Secret | undefined) => readPrivateSecret('sign-in', 'default', { find: async () => secret })

t.test('readPrivateSecret reads private options by their camel-case names', async (t) => {
  const options = { authorization: 'Bearer x', cookies: [{ name: 'a', value: 'b', httpOnly: true }] }
  t.strictSame(await read(aSecret(JSON.stringify(options))), options)
})

t.test('readPrivateSecret says the same of no Secret and of one of another type', async (t) => {
  const message = 'there is no Secret sign-in of type tintype.dev/private-options'
  await t.rejects(read(undefined), { name: 'OptionsError', message })
  await t.rejects(read(aSecret('{}', 'Opaque')), { name: 'OptionsError', message })
  await t.rejects(read({ metadata: { name: 'sign-in' } } as Secret), { name: 'OptionsError', message })
})

const wrong: [string, string, RegExp][] = [
  ['no JSON', 's3cret', /wrong: the whole$/],
  ['a list', '["s3cret"]', /wrong: the whole$/],
  ['an option of the other kind', '{"s3cret":1}', /wrong: the whole$/],
  [
    'wrong values',
    '{"authorization":"s3cret\\n","headers":{"host":"s3cret"},"cookies":["s3cret"]}',
    /wrong: (headers|cookies|authorization), /,
  ],
  ['a contradiction', '{"authorization":"s3cret","headers":{"Authorization":"s3cret"}}', /headers must not contain Authorization/],
]
for (const [what, text, message] of wrong) {
  t.test(`readPrivateSecret refuses ${what} without quoting it`, async (t) => {
    const error = await read(aSecret(text)).then(
      () => undefined,
      (reason: Error) => reason,
    )
    t.match(error, { name: 'OptionsError', message })
    t.notMatch(error?.message, /s3cret/)
  })
}

t.test('readPrivateSecret wants its own key of the Secret', async (t) => {
  await t.rejects(read(aSecret('{}', PRIVATE_OPTIONS_TYPE, 'other.json')), { name: 'OptionsError' })
})

t.test('headers.__proto__ of a Secret is dropped in silence: it is refused', async (t) => {
  const message = 'options.json of the Secret sign-in: headers.__proto__ is a reserved name: leave the field out'
  await t.rejects(read(aSecret('{"headers":{"__proto__":"s3cret"}}')), { name: 'OptionsError', message })
})
