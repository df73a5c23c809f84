import type { EffectiveOptions } from '@tintype/crds/options/catalog'

/** Optional metadata of a page. */
export type Note =
  | 'redirects'
  | 'responseHeaders'
  | 'imageSize'
  | 'openGraph'
  | 'icon'
  | 'fonts'
  | 'timings'
  | 'contentHash'
  | 'palette'
  | 'links'
  | 'blockedRequests'

/** The metadata to record. */
export interface MetadataPlan {
  notes: ReadonlySet<Note>
}

/** Builds the plan for metadata. */
export function buildMetadata(options: EffectiveOptions): MetadataPlan {
  const wanted: Record<Note, boolean> = {
    redirects: options.metadataFinalUrl,
    responseHeaders: options.metadataHttpResponseHeaders,
    imageSize: options.metadataImageSize,
    openGraph: options.metadataOpenGraph,
    icon: options.metadataIcon,
    fonts: options.metadataFonts,
    timings: options.metadataTimings,
    contentHash: options.metadataContentHash,
    palette: options.metadataPalette,
    links: options.metadataLinks,
    blockedRequests: options.metadataBlockedRequests,
  }
  const names = Object.entries(wanted).flatMap(([name, isWanted]) => (isWanted ? [name as Note] : []))
  return { notes: new Set(names) }
}
