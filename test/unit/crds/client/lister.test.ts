import t from 'tap'
import { Store } from '../../../../crds/client/lister.ts'
import { aThing, type Thing } from './scripted-server.ts'

const byColour = (thing: Thing) => thing.spec?.colour
const byName = (thing: Thing) => thing.metadata.name
const names = (things: Thing[]) => things.map(byName)

t.test('lister returns an object by its key until it is deleted', async (t) => {
  const store = new Store<Thing>()
  t.equal(store.set(aThing('a', 1)), undefined)
  t.equal(store.get('default/a')?.metadata.resourceVersion, '1')
  t.equal(store.set(aThing('a', 2))?.metadata.resourceVersion, '1')
  t.equal(store.size, 1)
  t.equal(store.delete('default/a')?.metadata.resourceVersion, '2')
  t.equal(store.has('default/a'), false)
  t.equal(store.delete('default/a'), undefined)
})

t.test('lister moves an object between index values when it changes', async (t) => {
  const store = new Store<Thing>().addIndex('colour', byColour)
  store.set(aThing('a', 1, { colour: 'red' }))
  store.set(aThing('b', 1, { colour: 'red' }))
  store.set(aThing('a', 2, { colour: 'blue' }))
  t.strictSame(names(store.byIndex('colour', 'red')), ['b'])
  t.strictSame(names(store.byIndex('colour', 'blue')), ['a'])
  t.equal(store.countByIndex('colour', 'red'), 1)
  t.strictSame(store.indexValues('colour').sort(), ['blue', 'red'])
})

t.test('lister forgets an index value with its last object', async (t) => {
  const store = new Store<Thing>().addIndex('colour', byColour)
  store.set(aThing('a', 1, { colour: 'red' }))
  store.delete('default/a')
  t.strictSame(store.indexValues('colour'), [])
  t.strictSame(store.byIndex('colour', 'red'), [])
  t.equal(store.countByIndex('colour', 'red'), 0)
})

t.test('lister files an object under several values once each, and under none when the index says so', async (t) => {
  const store = new Store<Thing>().addIndex('letters', ({ metadata }) => (metadata.name === '-' ? undefined : [...metadata.name]))
  store.set(aThing('aba', 1))
  store.set(aThing('-', 1))
  t.strictSame(names(store.byIndex('letters', 'a')), ['aba'])
  t.strictSame(names(store.byIndex('letters', 'b')), ['aba'])
  t.equal(store.indexValues('letters').length, 2)
})

t.test('lister files what is there already when an index is added late', async (t) => {
  const store = new Store<Thing>()
  store.set(aThing('a', 1, { colour: 'red' }))
  store.addIndex('colour', byColour)
  t.strictSame(names(store.byIndex('colour', 'red')), ['a'])
})

t.test('lister refuses unknown indexes and a second index of the same name', async (t) => {
  const store = new Store<Thing>().addIndex('colour', byColour)
  t.throws(() => store.byIndex('size', 'big'), { message: 'there is no index size' })
  t.throws(() => store.addIndex('colour', byColour), { message: 'index colour exists already' })
  t.throws(() => store.after('colour', 'red', undefined, 1), { message: 'index colour has no order' })
})

t.test('lister keeps an ordered index in order through random changes', async (t) => {
  const store = new Store<Thing>().addIndex('all', () => 'all', { orderBy: byName })
  const expected = new Set<string>()
  let state = 7
  for (let n = 0; n < 2_000; n++) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    const name = `n${state % 150}`
    if (state % 3 === 0) {
      store.delete(`default/${name}`)
      expected.delete(name)
    } else {
      store.set(aThing(name, n))
      expected.add(name)
    }
  }
  t.strictSame(names(store.byIndex('all', 'all')), [...expected].sort())
})

t.test('lister pages through an ordered index from a cursor, even one that is gone', async (t) => {
  const store = new Store<Thing>().addIndex('colour', byColour, { orderBy: byName })
  for (const name of ['d', 'b', 'a', 'c', 'e']) store.set(aThing(name, 1))
  t.strictSame(names(store.after('colour', 'red', undefined, 2)), ['a', 'b'])
  store.delete('default/b')
  t.strictSame(names(store.after('colour', 'red', 'b', 2)), ['c', 'd'])
  t.strictSame(names(store.after('colour', 'red', 'd', 2)), ['e'])
  t.strictSame(store.after('colour', 'blue', undefined, 2), [])
  t.strictSame(
    ['', 'a', 'b', 'd', 'x'].map((cursor) => store.countAfter('colour', 'red', cursor)),
    [4, 3, 3, 1, 0],
    'countAfter tells how many are left',
  )
  t.equal(store.countAfter('colour', 'blue', 'a'), 0)
})
