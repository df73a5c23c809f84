import t from 'tap'
import type { Secret } from '../../../../crds/client/core-resources.ts'
import { PRIVATE_OPTIONS_TYPE, readPrivateSecret } from '../../../../operator/src/options/private-secret.ts'

const aSecret = (text: string, type = PRIVATE_OPTIONS_TYPE, key = 'options.json'): Secret =>
  ({ metadata: { name: 'sign-in' }, type, data: { [key]: Buffer.from(text).toString('base64') } }) as unknown as Secret
const read = (secret: Secret | undefined) => readPrivateSecret('sign-in', { find: async () => secret })

t.test('readPrivateSecret reads private options by their camel-case names', async (t) => {
  const options = { authorization: 'Bearer x', cookies: [{ name: 'a', value: 'b', httpOnly: true }] }
  t.strictSame(await read(aSecret(JSON.stringify(options))), options)
})

t.test('readPrivateSecret reports a missing Secret and one of another type with the same message', async (t) => {
  const message = 'no Secret sign-in of type tintype.dev/private-options exists'
  await t.rejects(read(undefined), { name: 'OptionsError', message })
  await t.rejects(read(aSecret('{}', 'Opaque')), { name: 'OptionsError', message })
  await t.rejects(read({ metadata: { name: 'sign-in' } } as Secret), { name: 'OptionsError', message })
})

const wrong: [string, string, RegExp][] = [
  ['invalid JSON', 's3cret', /: the text must be an object with names and values$/],
  ['a list', '["s3cret"]', /: the text must be an object with names and values$/],
  ['a public option', '{"s3cret":1}', /: the text has an unknown name. Known names: headers, cookies, authorization, /],
  [
    'wrong values',
    '{"authorization":"s3cret\\n","headers":{"host":"s3cret"},"cookies":["s3cret"]}',
    /: headers: headers must not contain Host.*\. cookies\[0\] must be an object.*\. authorization must be printable ASCII/,
  ],
  ['the name of a header', '{"headers":{"s3cret ":"a"}}', /: a name in headers must be the name of a header/],
  ['the value of a header', '{"headers":{"s3cret":"\\n"}}', /: headers must be printable ASCII/],
  [
    'a cookie of another program',
    '{"cookies":[{"name":"a","value":"s3cret","expires":"Wed, 21 Oct 2026 07:28:00 GMT","sameSite":"none","http_only":true}]}',
    /cookies\[0\]\.expires must be Unix time in whole seconds, such as \d+.*cookies\[0\]\.sameSite must be one of "Strict", "Lax", "None".*cookies\[0\] has an unknown name. Known names: name, value, domain, path, expires, httpOnly/,
  ],
  ['a contradiction', '{"authorization":"s3cret","headers":{"Authorization":"s3cret"}}', /headers must not contain Authorization/],
]
for (const [what, text, message] of wrong) {
  t.test(`readPrivateSecret rejects ${what} without quoting it`, async (t) => {
    const error = await read(aSecret(text)).then(
      () => undefined,
      (reason: Error) => reason,
    )
    t.match(error, { name: 'OptionsError', message })
    t.notMatch(error?.message, /s3cret/)
  })
}

t.test('readPrivateSecret requires its own key in the Secret', async (t) => {
  await t.rejects(read(aSecret('{}', PRIVATE_OPTIONS_TYPE, 'other.json')), { name: 'OptionsError' })
})

t.test('readPrivateSecret rejects headers.__proto__ of a Secret', async (t) => {
  const message = 'options.json of the Secret sign-in: headers.__proto__ is a reserved name. Remove the field'
  await t.rejects(read(aSecret('{"headers":{"__proto__":"s3cret"}}')), { name: 'OptionsError', message })
})
