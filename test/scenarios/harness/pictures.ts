import { createHash } from 'node:crypto'
import sharp from 'sharp'

/** Decodes a picture; two files give the same text only if they show the same pixels. */
export async function fingerprint(file: Buffer): Promise<string> {
  const { data, info } = await sharp(file).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  return `${info.width}×${info.height} ${createHash('sha256').update(data).digest('hex')}`
}

/** Fingerprints of both sides' pictures of one page. */
interface Album {
  loop: readonly string[]
  product: readonly string[]
}

/** `same`, or the number of pictures on each side that differ from the majority. */
export function toVerdict(albums: readonly Album[]): string {
  const strays = albums.map(countStrays)
  const sum = (side: keyof Album) => strays.reduce((total, stray) => total + stray[side], 0)
  const count = (side: keyof Album) => albums.reduce((total, album) => total + album[side].length, 0)
  if (sum('loop') + sum('product') === 0) return 'same'
  return `odd: loop ${sum('loop')} of ${count('loop')}, product ${sum('product')} of ${count('product')}`
}

function countStrays({ loop, product }: Album): Record<keyof Album, number> {
  const most = mostFrequent([...loop, ...product])
  const strays = (prints: readonly string[]) => prints.filter((print) => print !== most).length
  return { loop: strays(loop), product: strays(product) }
}

function mostFrequent(prints: readonly string[]): string | undefined {
  const groups = [...Map.groupBy(prints, (print) => print).values()]
  return groups.toSorted((a, b) => b.length - a.length)[0]?.[0]
}
