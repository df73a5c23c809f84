import t from 'tap'
import { FrameTrust } from '../../../../capture-runner/src/browser/frame-trust.ts'

const pass = (trust: FrameTrust, captures: number) => {
  for (let n = 0; n < captures; n++) trust.noteCapture()
}

t.test('an account whose frames hang three times within a hundred captures is not trusted until they are past', async (t) => {
  const trust = new FrameTrust()
  pass(trust, 10)
  t.notOk(trust.noteHang('acme'))
  pass(trust, 50)
  t.notOk(trust.noteHang('acme'))
  t.ok(trust.isTrusted('acme'))
  pass(trust, 49)
  t.ok(trust.noteHang('acme'), 'the third one ends its trust')
  t.notOk(trust.noteHang('acme'), 'the fourth one changes nothing')
  t.notOk(trust.isTrusted('acme'))
  t.ok(trust.isTrusted('other'), 'others keep theirs')
  pass(trust, 50)
  t.notOk(trust.isTrusted('acme'))
  pass(trust, 1)
  t.ok(trust.isTrusted('acme'), 'the second one is a hundred captures old')
})

t.test('hangs further apart are forgotten', async (t) => {
  const trust = new FrameTrust()
  for (let n = 0; n < 5; n++) {
    pass(trust, 50)
    t.notOk(trust.noteHang('acme'))
  }
  t.ok(trust.isTrusted('acme'))
})
