/** Reads those packets of a Perfetto trace that tests check. */
import { PbfReader } from 'pbf';
import { exporters } from '../../../ts-frontend/src/export/formats.js';
import type { Model } from '../../../ts-frontend/src/model/index.js';

export interface Packet {
  at?: number;
  uuid?: number;
  name?: string;
  category?: string;
  type?: number;
  value?: number;
}
export function packetsOf(of: Model): Packet[] {
  const packets: Packet[] = [];
  new PbfReader(
    exporters.perfetto.write(of, { foldRuntime: false, foldLoops: false, holders: false }) as Uint8Array,
  ).readFields((_, list: Packet[], pbf) => {
    const packet: Packet = {};
    pbf.readMessage((field, its: Packet) => {
      if (field === 8) its.at = pbf.readVarint();
      else if (field === 11 || field === 60)
        pbf.readMessage((inner, of: Packet) => {
          if (inner === (field === 11 ? 11 : 1)) of.uuid = pbf.readVarint();
          else if (inner === (field === 11 ? 23 : 2)) of.name = pbf.readString();
          else if (inner === 22 && field === 11) of.category = pbf.readString();
          else if (inner === 9 && field === 11) of.type = pbf.readVarint();
          else if (inner === 44 && field === 11) of.value = pbf.readDouble();
        }, its);
    }, packet);
    list.push(packet);
  }, packets);
  return packets;
}
