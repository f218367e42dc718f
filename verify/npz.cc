#include "posgauge/verify/npz.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "posgauge/schemes/base/error.h"
#include "posgauge/schemes/base/fields.h"
#include "posgauge/verify/atomic_file.h"
#include "posgauge/verify/npy.h"

namespace posgauge {

namespace {

// PKWARE, APPNOTE.TXT - .ZIP File Format Specification, 6.3.10: sections 4.3.7 (local header),
// 4.3.12 (directory), 4.3.16 (end of it), 4.5.3 (ZIP64 extra field).
constexpr uint64_t kLocalSignature = 0x04034b50;
constexpr uint64_t kEntrySignature = 0x02014b50;
constexpr uint64_t kEndSignature = 0x06054b50;
constexpr size_t kLocalSize = 30, kEntrySize = 46, kEndSize = 22, kZip64ExtraSize = 20;
constexpr uint64_t kStored = 0, kDeflated = 8;
constexpr uint64_t kDeflateOptions = 6;     // flags: how hard a compressor tried
constexpr uint64_t kIn64Bits = 0xffffffff;  // in place of a size: the ZIP64 extra field has it
constexpr std::string_view kSuffix = ".npy";

template <class... Args>
void Demand(bool holds, const std::string& where, fmt::format_string<Args...> message,
            Args&&... args) {
  if (holds) return;
  throw FormatError(
      fmt::format("{}: {}", where, fmt::format(message, std::forward<Args>(args)...)));
}

// Little-endian numbers one after the other. Whoever takes has checked that they are there.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  uint64_t Take(size_t width) {
    uint64_t number = 0;
    for (size_t i = width; i-- > 0;) number = number << 8 | static_cast<unsigned char>(rest_[i]);
    rest_.remove_prefix(width);
    return number;
  }

 private:
  std::string_view rest_;
};

void Put(std::string& bytes, size_t width, uint64_t number) {
  for (size_t i = 0; i < width; ++i, number >>= 8) bytes += static_cast<char>(number & 0xff);
}

// What the local header and the directory both say of a member.
struct Facts {
  uint64_t version = 20, flags = 0, method = kStored, time = 0, date = 0x21, checksum = 0;
  uint64_t compressed = 0, size = 0, name_size = 0, extra_size = 0;

  static Facts From(Fields& fields) {
    Facts facts;
    for (uint64_t* field :
         {&facts.version, &facts.flags, &facts.method, &facts.time, &facts.date}) {
      *field = fields.Take(2);
    }
    for (uint64_t* field : {&facts.checksum, &facts.compressed, &facts.size}) {
      *field = fields.Take(4);
    }
    facts.name_size = fields.Take(2);
    facts.extra_size = fields.Take(2);
    return facts;
  }

  void AppendTo(std::string& bytes) const {
    for (uint64_t field : {version, flags, method, time, date}) Put(bytes, 2, field);
    for (uint64_t field : {checksum, compressed, size}) Put(bytes, 4, field);
    Put(bytes, 2, name_size);
    Put(bytes, 2, extra_size);
  }
};

struct Member {
  std::string file_name;  // "x.npy"
  std::string where;      // the beginning of a message about it
  Facts facts;
  uint64_t begin = 0;  // of its local header, bytes from the start of the file
};

bool IsName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~'; });
}

Member ParseEntry(std::string_view& directory, const std::string& path) {
  Demand(directory.size() >= kEntrySize, path, "the directory is truncated");
  Fields fields(directory);
  Demand(fields.Take(4) == kEntrySignature, path,
         "the directory must consist of entries that begin with PK\\1\\2");
  fields.Take(2);  // who made it
  Member member;
  member.facts = Facts::From(fields);
  const Facts& facts = member.facts;
  const uint64_t comment = fields.Take(2), disk = fields.Take(2);
  fields.Take(2);  // internal attributes
  fields.Take(4);  // external attributes: permissions
  member.begin = fields.Take(4);
  directory.remove_prefix(kEntrySize);
  Demand(facts.name_size <= directory.size(), path, "the directory is truncated");
  member.file_name = directory.substr(0, facts.name_size);
  directory.remove_prefix(facts.name_size);
  member.where = fmt::format("{}: {}", path, Shown(member.file_name));
  const std::string& where = member.where;
  Demand(member.file_name.ends_with(kSuffix) &&
             IsName(std::string_view(member.file_name)
                        .substr(0, member.file_name.size() - kSuffix.size())),
         where, "a member must be named NAME{}, in printable ASCII", kSuffix);
  Demand((facts.flags & 1) == 0, where, "is encrypted; it must not be");
  Demand((facts.flags & 8) == 0, where,
         "was written to a pipe, its sizes after it; save it to a file");
  Demand((facts.flags & ~kDeflateOptions) == 0, where, "has flags {:#x}, which are not known here",
         facts.flags);
  Demand(facts.method == kStored || facts.method == kDeflated, where,
         "must be stored (0) or deflated (8), got method {}", facts.method);
  Demand(facts.extra_size == 0 && comment == 0 && disk == 0, where,
         "its directory entry must have no extra field, comment or disk number");
  Demand(facts.method == kDeflated || facts.compressed == facts.size, where,
         "is stored in {} bytes, which must be its size, {}", facts.compressed, facts.size);
  // A length and a distance, of a bit each at least, copy at most 258 bytes: 1032 for a byte.
  constexpr uint64_t kMostOfAByte = 1032;
  Demand(facts.size <= kMostOfAByte * facts.compressed, where,
         "{} bytes cannot be deflated to {}: at most {} for one", facts.size, facts.compressed,
         kMostOfAByte);
  return member;
}

std::vector<Member> ParseDirectory(std::string_view bytes, uint64_t* directory_begin,
                                   const std::string& path) {
  Demand(bytes.starts_with("PK"), path, "not npz: a ZIP archive must begin with PK");
  Demand(bytes.size() >= kEndSize, path, "truncated: a ZIP archive has at least {} bytes, got {}",
         kEndSize, bytes.size());
  const uint64_t end = bytes.size() - kEndSize;
  Fields fields(bytes.substr(end));
  Demand(fields.Take(4) == kEndSignature, path,
         "truncated, or followed by other bytes: its last {} must be the end of the directory "
         "(PK\\5\\6), without a comment",
         kEndSize);
  const uint64_t disk = fields.Take(2), first_disk = fields.Take(2);
  const uint64_t count_here = fields.Take(2), count = fields.Take(2);
  const uint64_t size = fields.Take(4), begin = fields.Take(4), comment = fields.Take(2);
  Demand(disk == 0 && first_disk == 0 && count_here == count && comment == 0, path,
         "must be one archive on one disk without a comment");
  Demand(count != 0xffff && size != kIn64Bits && begin != kIn64Bits, path,
         "is of ZIP64; it must have less than 65535 members and 4 GiB");
  Demand(begin <= end && size == end - begin, path,
         "its directory must lie in bytes {}..{}, before its end, got {} bytes from {}", begin, end,
         size, begin);
  std::string_view directory = bytes.substr(begin, size);
  std::vector<Member> members;
  while (!directory.empty()) members.push_back(ParseEntry(directory, path));
  Demand(members.size() == count, path, "its directory has {} entries, its end says {}",
         members.size(), count);
  *directory_begin = begin;
  return members;
}

// The data of a member, whose local header must say what the directory says; `end` is where the
// next thing begins.
std::string_view Data(std::string_view bytes, const Member& member, uint64_t end) {
  const std::string& where = member.where;
  Demand(member.begin <= end && end - member.begin >= kLocalSize, where,
         "overlaps what comes after it: no room for its header between bytes {} and {}",
         member.begin, end);
  std::string_view rest = bytes.substr(member.begin, end - member.begin);
  Fields fields(rest);
  Demand(fields.Take(4) == kLocalSignature, where, "its header must begin with PK\\3\\4");
  const Facts local = Facts::From(fields);
  const Facts& facts = member.facts;
  rest.remove_prefix(kLocalSize);
  Demand(rest.size() >= local.name_size + local.extra_size, where, "its header is truncated");
  Demand(rest.substr(0, local.name_size) == member.file_name && local.version == facts.version &&
             local.flags == facts.flags && local.method == facts.method &&
             local.time == facts.time && local.date == facts.date &&
             local.checksum == facts.checksum,
         where, "its header must say what the directory says");
  rest.remove_prefix(local.name_size);
  uint64_t size = local.size, compressed = local.compressed;
  if (local.extra_size > 0) {
    Fields extra(rest);
    Demand(local.extra_size == kZip64ExtraSize && extra.Take(2) == 1 &&
               extra.Take(2) == kZip64ExtraSize - 4,
           where, "its header may have one extra field, the {} bytes of ZIP64 sizes",
           kZip64ExtraSize);
    const uint64_t whole_size = extra.Take(8), whole_compressed = extra.Take(8);
    Demand((size == kIn64Bits || size == whole_size) &&
               (compressed == kIn64Bits || compressed == whole_compressed),
           where, "its header has two different sizes");
    size = whole_size;
    compressed = whole_compressed;
  }
  Demand(size == facts.size && compressed == facts.compressed, where,
         "its header must say what the directory says");
  rest.remove_prefix(local.extra_size);
  Demand(rest.size() == compressed, where,
         "has {} bytes, but {} lie between its header and what comes after it", compressed,
         rest.size());
  return rest;
}

std::string Inflate(std::string_view data, const Member& member) {
  // A deflated member is a raw stream, without zlib's header: negative window bits.
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> guard(&stream, &inflateEnd);
  std::string inflated(member.facts.size, '\0');
  // Sizes in the archive are of 32 bits, as those of the stream are.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(inflated.data());
  stream.avail_out = static_cast<uInt>(inflated.size());
  const int status = inflate(&stream, Z_FINISH);
  Demand(status == Z_STREAM_END && stream.avail_in == 0 && stream.avail_out == 0, member.where,
         "its deflated data must be one whole stream of {} bytes{}{}", member.facts.size,
         stream.msg != nullptr ? ": " : "", stream.msg != nullptr ? stream.msg : "");
  return inflated;
}

uint64_t Checksum(std::string_view bytes) {
  return crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

}  // namespace

std::string SerializeNpz(const std::map<std::string, Tensor>& tensors) {
  Require(tensors.size() < 0xffff, "an npz file holds at most {} tensors, got {}", 0xffff - 1,
          tensors.size());
  std::string bytes, directory;
  for (const auto& [name, tensor] : tensors) {
    Require(IsName(name), "the name of a tensor in an npz file must be printable ASCII, got {}",
            Shown(name));
    const std::string file_name = name + std::string(kSuffix), data = SerializeNpy(tensor);
    Require(file_name.size() <= 0xffff && bytes.size() + directory.size() + data.size() +
                                                  2 * file_name.size() + kLocalSize + kEntrySize +
                                                  kEndSize <
                                              kIn64Bits,
            "an npz file must be below 4 GiB; tensor {} is beyond that", Shown(name));
    Facts facts;
    facts.checksum = Checksum(data);
    facts.compressed = facts.size = data.size();
    facts.name_size = file_name.size();
    Put(directory, 4, kEntrySignature);
    Put(directory, 2, 20);
    facts.AppendTo(directory);
    for (size_t width : {2u, 2u, 2u, 4u}) Put(directory, width, 0);
    Put(directory, 4, bytes.size());
    directory += file_name;
    Put(bytes, 4, kLocalSignature);
    facts.AppendTo(bytes);
    bytes += file_name;
    bytes += data;
  }
  const uint64_t begin = bytes.size();
  bytes += directory;
  Put(bytes, 4, kEndSignature);
  Put(bytes, 4, 0);
  for (int i = 0; i < 2; ++i) Put(bytes, 2, tensors.size());
  Put(bytes, 4, directory.size());
  Put(bytes, 4, begin);
  Put(bytes, 2, 0);
  return bytes;
}

std::map<std::string, Tensor> ParseNpz(std::string_view bytes, const std::string& path) {
  uint64_t directory_begin = 0;
  std::vector<Member> members = ParseDirectory(bytes, &directory_begin, path);
  std::ranges::sort(members, {}, &Member::begin);
  Demand((members.empty() ? directory_begin : members[0].begin) == 0, path,
         "its first bytes belong to no member");
  std::map<std::string, Tensor> tensors;
  for (size_t i = 0; i < members.size(); ++i) {
    const Member& member = members[i];
    const uint64_t end = i + 1 < members.size() ? members[i + 1].begin : directory_begin;
    std::string_view data = Data(bytes, member, end);
    std::string inflated;
    if (member.facts.method == kDeflated) data = inflated = Inflate(data, member);
    Demand(Checksum(data) == member.facts.checksum, member.where,
           "its bytes have the CRC-32 {:08x}, but {:08x} is written", Checksum(data),
           member.facts.checksum);
    const std::string name = member.file_name.substr(0, member.file_name.size() - kSuffix.size());
    const bool added = tensors.emplace(name, ParseNpy(data, member.where)).second;
    Demand(added, member.where, "appears twice");
  }
  return tensors;
}

std::map<std::string, Tensor> ReadNpz(const std::filesystem::path& path) {
  return ParseNpz(ReadFile(path, kMaxNpyFile), path.string());
}

void WriteNpz(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors) {
  WriteFileAtomically(path, SerializeNpz(tensors));
}

}  // namespace posgauge
